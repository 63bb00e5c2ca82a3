import { execFile } from 'node:child_process'
import { z } from 'zod'
import { DeviceRefusal, driverType } from './driver.ts'

const command = z
  .array(
    z
      .string()
      .max(1_000)
      .regex(/^[^\0]*$/),
  )
  .min(1)
  .max(64)

export const driver = driverType({
  name: 'command',
  summary: 'A program of the device, one list of arguments for on and one for off.',
  settings: {
    on: command.describe(
      'The program that switches on, and its arguments, used unchanged: no shell reads them, and nothing in them ' +
        'is replaced.',
    ),
    off: command.describe(
      'The program that switches off, and its arguments. It must end, with status 0 once the device is off.',
    ),
  },
  secrets: ({ on, off }) => [on, off].flatMap(([, ...args]) => args.filter((text) => text.length >= 8)),
  open({ on, off }) {
    return {
      on: (_seconds, signal) => run(on, signal),
      off: (signal) => run(off, signal),
    }
  },
})

const OUTPUT_MAX_BYTES = 64 * 1024

async function run([program, ...args]: string[], signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  execFile(
    program!,
    args,
    { signal, killSignal: 'SIGKILL', maxBuffer: OUTPUT_MAX_BYTES, encoding: 'utf8' },
    (error, stdout) => {
      if (!error) resolve(stdout.trim() || 'it ended with status 0')
      else if (typeof error.code === 'number') reject(new DeviceRefusal(`the command ended with status ${error.code}`))
      else if (error.name === 'AbortError') reject(new Error('the command was broken off'))
      else reject(new Error(`the command failed (${String(error.code ?? error.signal)})`))
    },
  ).stdin?.end()
  return promise
}
