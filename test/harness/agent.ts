import { startChild, type Child } from './child-process.ts'
import { commandOf } from './programs.ts'

/** Node's arguments to start an agent, as in `npm run gateway`, systemd and archives. */
export const AGENT_COMMAND = commandOf('hedgerow-gateway')

/** The agent as a process of its own. */
export type Agent = Pick<Child, 'pid' | 'says' | 'output'> & {
  /** Its device page and its API. */
  readonly url: string
  /** Calls the local API; rejects with the text of a refusal. */
  post(path: string, body?: unknown): Promise<unknown>
  get(path: string): Promise<unknown>
  stop(): Promise<void>
  /** Ends it with SIGKILL. */
  kill(): Promise<void>
}

/**
 * Starts it on a data directory, which holds its `gateway.yaml`; without a hub unless `args` names one. `command`: a
 * program instead of the sources on this Node.
 */
export async function startAgent(
  dataDir: string,
  {
    args = [],
    env = {},
    command: [program, ...first] = [process.execPath, ...AGENT_COMMAND],
  }: { args?: string[]; env?: Record<string, string>; command?: readonly [string, ...string[]] } = {},
): Promise<Agent> {
  const child = await startChild(program, [...first, '--data', dataDir, '--port', '0', ...args], {
    env: { GATEWAY_HOST: '127.0.0.1', ...env },
  })
  const [, port] = await child.says(/"port":(\d+),"msg":"device page is open"/)
  const url = `http://127.0.0.1:${port}`

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }

  return {
    pid: child.pid,
    url,
    says: child.says,
    output: child.output,
    post: (path, body) => call('POST', path, body),
    get: (path) => call('GET', path),
    async stop() {
      await child.stop()
    },
    async kill() {
      child.signal('SIGKILL')
      await child.ended
    },
  }
}
