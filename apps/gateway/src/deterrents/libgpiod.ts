/** The common part of the commands of libgpiod 1 and 2. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'

const execute = promisify(execFile)

export const gpioLine = {
  chip: z
    .string()
    .regex(/^(\/dev\/)?[\w-]{1,100}$/, 'A chip is a name such as gpiochip0.')
    .default('gpiochip0'),
  line: z.number().int().min(0).max(1_023).describe("The line's number on the chip."),
}

/** Rejects, in words, when the command is not there. */
export async function libgpiodVersion(command: 'gpioset' | 'gpiomon', signal: AbortSignal): Promise<1 | 2> {
  const { stdout } = await runGpio(command, ['--version'], signal)
  return /\bv?2\.\d/.test(stdout) ? 2 : 1
}

/** Rejects with the command's message. */
export async function runGpio(command: string, args: readonly string[], signal: AbortSignal) {
  try {
    return await execute(command, args, { signal })
  } catch (error) {
    const { code, name, stderr } = error as Error & { code?: unknown; stderr?: string }
    if (code === 'ENOENT') throw new Error(`${command} is not installed (package gpiod)`, { cause: error })
    throw new Error(stderr?.trim() || `${command} failed (${String(code ?? name)})`, { cause: error })
  }
}
