import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { ENVIRONMENT } from '../../scripts/bundles/products.ts'
import { SEARCH_PATH } from './privileges.ts'
import { waitFor } from './wait-for.ts'

const END_WITH_PARENT = import.meta.resolve('./end-with-parent.ts')

/** The living children of this process: none may outlive this process. */
const living = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

export type Child = {
  readonly pid: number
  /** Its whole output so far, standard output and standard error in order of arrival. */
  output(): string
  /** Settles when it has ended, for any reason. */
  readonly ended: Promise<Exit>
  hasEnded(): boolean
  signal(name: NodeJS.Signals): void
  /** SIGTERM, then SIGKILL when it takes longer than `graceMs`. */
  stop(graceMs?: number): Promise<Exit>
  /** The first match of `pattern` in the output; fails with the output when the child ends first, or the time is up. */
  says(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>
}

export type ChildOptions = {
  env?: Record<string, string>
  /**
   * Starts it in a process group of its own, so that Ctrl-C does not reach it and its starter can stop it gracefully.
   * Only for Node: it also ends when its starter was killed.
   */
  detached?: boolean
}

/**
 * Starts `command` with arguments and no shell. It inherits only PATH, HOME, TMPDIR and the compile cache, so that no
 * setting of the machine reaches it, and gets the environment that hubs and agents have wherever they run.
 */
export async function startChild(command: string, args: string[], options: ChildOptions = {}): Promise<Child> {
  const env = {
    ...inherited('HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'),
    PATH: SEARCH_PATH,
    ...ENVIRONMENT,
    ...options.env,
  }
  const child = spawn(command, options.detached ? ['--import', END_WITH_PARENT, ...args] : args, {
    env,
    detached: options.detached ?? false,
    stdio: ['ignore', 'pipe', 'pipe', ...(options.detached ? (['ipc'] as const) : [])],
  })
  await once(child, 'spawn')
  living.add(child)
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => (output += text))
  }
  let hasEnded = false
  const ended = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true
      living.delete(child)
      resolve({ code, signal })
    })
  })

  return {
    pid: child.pid!,
    output: () => output,
    ended,
    hasEnded: () => hasEnded,
    signal: (name) => void child.kill(name),
    async stop(graceMs = 15_000) {
      child.kill('SIGTERM')
      const impatience = setTimeout(() => child.kill('SIGKILL'), graceMs)
      const exit = await ended
      clearTimeout(impatience)
      return exit
    },
    async says(pattern, timeoutMs = 60_000) {
      const found = await waitFor(() => output.match(pattern) ?? (hasEnded ? 'ended' : undefined), {
        for: `${args.at(0) ?? command} to say ${pattern}`,
        timeoutMs,
      }).catch((cause: unknown) => {
        throw new Error(`${String(cause)}. It said:\n${output}`)
      })
      if (found === 'ended') throw new Error(`${args.at(0) ?? command} ended without saying ${pattern}:\n${output}`)
      return found
    },
  }
}

function inherited(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}
