import { constants, open } from 'node:fs/promises'

/** More than a file may have, and little enough to read at once. */
const BYTES_MAX = 4 * 1024 * 1024

/** A file is too large, or is no file. */
export class UnreadableText extends Error {
  override name = 'UnreadableText'
}

/** The text of `gateway.yaml`; rejects with UnreadableText or the disk's error. A device or a pipe has no end. */
export async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new UnreadableText('This is not a regular file.')
    if (found.size > BYTES_MAX) throw new UnreadableText('The file is much too large.')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
