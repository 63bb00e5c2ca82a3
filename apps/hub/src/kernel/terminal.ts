import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/**
 * Whether a person can answer: a terminal in front of this process. The system stops a process in the background that
 * reads from its terminal.
 */
export function isAtTerminal(): boolean {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  try {
    // proc_pid_stat(5): after the name come state, ppid, pgrp, session, tty_nr and tpgid.
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
    return group === foreground
  } catch {
    return false
  }
}

/** Asks until an answer has no problem. Undefined for an empty answer, or when the terminal has closed. */
export async function prompt(
  question: string,
  problemOf: (answer: string) => string | undefined,
): Promise<string | undefined> {
  // In the terminal's own line mode, Ctrl-C is still a signal to the process.
  const lines = createInterface({ input: process.stdin, terminal: false })
  const close = () => lines.close()
  // Resumed, the process may be in the background; without a terminal, reading fails.
  process.once('SIGCONT', close)
  process.stdin.once('error', close)
  process.stdout.write(question)
  for await (const line of lines) {
    const answer = line.trim()
    if (answer === '') break
    const problem = problemOf(answer)
    if (problem === undefined) {
      close()
      return answer
    }
    process.stdout.write(`${problem}\n${question}`)
  }
  close()
  return undefined
}
