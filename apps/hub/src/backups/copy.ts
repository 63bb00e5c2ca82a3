import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BackupAnswer, BackupWork } from './backup-process.ts'

const KILL_MS = 2_000
const MAIN = fileURLToPath(new URL('./backup-process.ts', import.meta.url))

/** Makes a backup in a process of its own, which ends with this one. Returns why it failed. */
export function copyInProcess(
  work: BackupWork,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  // The hub's own variables hold secrets that it does not need; those of PostgreSQL it does.
  const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('HUB_'))
  const child = spawn(process.execPath, [MAIN], {
    env: Object.fromEntries(environment),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let output = ''
  let answer: BackupAnswer | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-500)))
  const over = (problem: string | undefined) => {
    clearTimeout(late)
    signal.removeEventListener('abort', stop)
    resolve(problem)
  }
  /** A process that waits for a disk which hangs does not end either. */
  const end = (problem: string) => {
    answer = { problem }
    child.kill('SIGKILL')
    setTimeout(() => over(problem), KILL_MS).unref()
  }
  const late = setTimeout(() => end(`it took longer than ${Math.round(timeoutMs / 60_000)} minutes`), timeoutMs)
  const stop = () => end('the hub stops')
  signal.addEventListener('abort', stop)
  child.once('message', (message: BackupAnswer) => (answer ??= message))
  child.once('error', (error) => over(error.message))
  child.once('exit', (code, by) =>
    over(answer ? answer.problem : output.trim() || `its process ended with ${by ?? code}`),
  )
  child.send(work satisfies BackupWork, (error) => error && end(error.message))
  return promise
}
