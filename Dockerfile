# A server in a container, built without a compiler on the host:
#
#   docker build --tag errand .
#   docker run --publish 127.0.0.1:7300:7300 --volume errand:/var/lib/errand errand
#
# The first start prints an API key. Vendor keys are variables, such as --env OPENAI_API_KEY.
FROM debian:12 AS build
COPY . /src
RUN cd /src && ./dev package --output /packages

FROM debian:12-slim
COPY --from=build /packages/errand_*.deb /packages/
RUN apt-get update -q \
 && apt-get install -q -y --no-install-recommends ca-certificates /packages/errand_*.deb \
 && rm -rf /packages /var/lib/apt/lists/* \
 && install -d -m 0700 -o errand -g errand /var/lib/errand
USER errand
WORKDIR /var/lib/errand
VOLUME /var/lib/errand
EXPOSE 7300
STOPSIGNAL SIGTERM
# A proxy or the publishing of the port to 127.0.0.1 keeps keys off the network.
ENTRYPOINT ["errand"]
CMD ["serve", "--listen", "0.0.0.0:7300", "--data", "/var/lib/errand", "--behind-proxy"]
