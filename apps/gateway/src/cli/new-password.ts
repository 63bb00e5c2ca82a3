import { join } from 'node:path'
import { KEYS_FILE } from '../hub/identity.ts'
import { exists } from '../kernel/durable-file.ts'
import { replacePassword } from '../kernel/password.ts'
import type { Outcome } from './command-line.ts'

/** The old password stops working; a running agent accepts the new one at once. */
export async function newPassword(dataDir: string): Promise<Outcome> {
  if (!(await exists(join(dataDir, KEYS_FILE))))
    return {
      text:
        `${dataDir} is not the folder of a device: it has no ${KEYS_FILE}. ` +
        'Name its folder with --data, or start the gateway there once.',
      isDone: false,
    }
  const password = await replacePassword(dataDir)
  return { text: `The new password of this device's own interface, shown once: ${password}`, isDone: true }
}
