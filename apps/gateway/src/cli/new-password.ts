import { makeDataDirectory } from '../kernel/durable-file.ts'
import { replacePassword } from '../kernel/password.ts'
import type { Outcome } from './command-line.ts'

/** The old password stops working; a running agent accepts the new one at once. */
export async function newPassword(dataDir: string): Promise<Outcome> {
  await makeDataDirectory(dataDir)
  const password = await replacePassword(dataDir)
  return { text: `The new password of this device's own interface, shown once: ${password}`, isDone: true }
}
