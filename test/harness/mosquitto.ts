import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild, type Child } from './child-process.ts'
import { freeTcpPort } from './free-ports.ts'
import { waitFor } from './wait-for.ts'

/** Debian's MQTT broker with its own port and data directory. */
export type Mosquitto = {
  readonly url: string
  /** Ends the broker like a power cut; every client is disconnected. */
  kill9(): Promise<void>
  /** On the same port, after `kill9`. */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startMosquitto(): Promise<Mosquitto> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-mosquitto-'))
  const port = await freeTcpPort()
  const file = join(folder, 'mosquitto.conf')
  // As root it would switch to another user, who cannot read the folder.
  const lines = [`listener ${port} 127.0.0.1`, 'allow_anonymous true', 'user root', 'persistence false']
  await writeFile(file, `${lines.join('\n')}\n`)
  let child: Child

  async function start(): Promise<void> {
    // Debian installs it in /usr/sbin, which may not be in an ordinary user's PATH.
    child = await startChild('sh', ['-c', 'PATH="$PATH:/usr/sbin" exec mosquitto -c "$0"', file])
    const ready = async () => {
      if (child.hasEnded()) throw new Error(`Mosquitto ended at its start:\n${child.output()}`)
      const socket = createConnection(port, '127.0.0.1')
      try {
        await once(socket, 'connect')
        return true
      } finally {
        socket.destroy()
      }
    }
    await waitFor(ready, { for: 'Mosquitto to listen' })
  }

  await start()
  return {
    url: `mqtt://127.0.0.1:${port}`,
    start,
    async kill9() {
      child.signal('SIGKILL')
      await child.ended
    },
    async stop() {
      if (!child.hasEnded()) await child.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
