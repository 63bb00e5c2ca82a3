import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startChild, type Child } from './child-process.ts'
import { makeSelfSigned } from './frigate-certificate.ts'
import { freeTcpPort } from './free-ports.ts'
import { waitFor } from './wait-for.ts'

/** Debian's MQTT broker with its own port and data directory. */
export type Mosquitto = {
  readonly url: string
  /** Its certificate in PEM, when `guarded`. */
  readonly ca: string
  /** Ends the broker like a power cut; every client is disconnected. */
  kill9(): Promise<void>
  /** Starts it again on the same port, after `kill9`. */
  start(): Promise<void>
  stop(): Promise<void>
}

export type SignIn = { username: string; password: string }

/** With `guarded`, it accepts only TLS and only these people. */
export async function startMosquitto({ guarded }: { guarded?: readonly SignIn[] } = {}): Promise<Mosquitto> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-mosquitto-'))
  const port = await freeTcpPort()
  const file = join(folder, 'mosquitto.conf')
  // Without this line it would switch from root to a user that cannot read the folder.
  const lines = [`listener ${port} 127.0.0.1`, 'user root', 'persistence false']
  const { cert, key } = guarded ? await makeSelfSigned('127.0.0.1') : { cert: '', key: '' }
  if (guarded) {
    const names = ['certificate.pem', 'key.pem', 'passwords'].map((name) => join(folder, name))
    const [certFile = '', keyFile = '', passwords = ''] = names
    await writeFile(certFile, cert)
    await writeFile(keyFile, key, { mode: 0o600 })
    await writeFile(passwords, guarded.map(({ username, password }) => `${username}:${password}\n`).join(''), {
      mode: 0o600,
    })
    // Hashes the passwords in the file.
    await promisify(execFile)('mosquitto_passwd', ['-U', passwords])
    lines.push(`certfile ${certFile}`, `keyfile ${keyFile}`, `password_file ${passwords}`, 'allow_anonymous false')
  } else lines.push('allow_anonymous true')
  await writeFile(file, `${lines.join('\n')}\n`)
  let child: Child

  async function start(): Promise<void> {
    child = await startChild('mosquitto', ['-c', file])
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
    url: `${guarded ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`,
    ca: cert,
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
