// Commands of peer.mjs about what a room itself offers: queues, files, logs.

// What has come and was not taken, in order.
class Heard {
  constructor() {
    this.items = [];
    this.changed = () => {};
  }
  put(item) {
    this.items.push(item);
    this.changed();
  }
  async take() {
    while (!this.items.length) await new Promise((resolve) => { this.changed = resolve; });
    return this.items.shift();
  }
}

export function serviceCommands(rooms) {
  const waiting = new Map();  // calls of queues.receive
  const files = new Map();
  const logs = new Map();

  return {
    async queueOpen({ as, queue }) {
      await rooms.get(as).queues.open(queue);
    },
    async queuePut({ as, queue, message, create = false }) {
      await rooms.get(as).queues.send(queue, message, { create });
    },
    async queueTake({ as, queue, create = false }) {
      return rooms.get(as).queues.receive(queue, { create, wait: false });
    },
    // Waits for a message, which `queueGot` gives.
    async queueWait({ as, queue }) {
      const { queues } = rooms.get(as);
      const received = queues.receive(queue, { create: false, wait: true });
      received.catch(() => {});  // whoever leaves is told of it nowhere else
      waiting.set(as, received);
      await queues.list();  // the room has the request before it answers this
    },
    async queueGot({ as }) {
      return waiting.get(as);
    },
    async watchFiles({ as }) {
      const heard = new Heard();
      files.set(as, heard);
      const { storage } = rooms.get(as);
      storage.on('file.updated', ({ path, participantId }) =>
        heard.put({ event: 'file.updated', by: participantId, path }));
      storage.on('file.deleted', ({ path, participantId }) =>
        heard.put({ event: 'file.deleted', by: participantId, path }));
      storage.on('file.moved', ({ sourcePath, destinationPath, participantId }) =>
        heard.put({ event: 'file.moved', by: participantId, source_path: sourcePath,
          destination_path: destinationPath }));
    },
    async fileEvent({ as }) {
      return files.get(as).take();
    },
    async exists({ as, path }) {
      return rooms.get(as).storage.exists(path);
    },
    async delete({ as, path }) {
      await rooms.get(as).storage.delete(path);
    },
    async move({ as, source, destination }) {
      await rooms.get(as).storage.move(source, destination);
    },
    // Reads the logs; the first line is one of its own.
    async listen({ as }) {
      const { developer } = rooms.get(as);
      const lines = developer.logs();
      logs.set(as, lines);
      let isThere = false;
      const first = lines.next().then((line) => { isThere = true; return line; });
      while (!isThere) await developer.log('begun', {});  // until the room has the listener
      await first;
    },
    async nextLog({ as }) {
      for (;;) {
        const { value } = await logs.get(as).next();
        if (value.type !== 'begun') return { type: value.type, data: value.data };
      }
    },
    async log({ as, type, data }) {
      await rooms.get(as).developer.log(type, data);
    },
  };
}
