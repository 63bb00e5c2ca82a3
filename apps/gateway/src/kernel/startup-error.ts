import { DataFileError } from './durable-file.ts'
import { codeOf, inWords } from './failure.ts'

/** EX_CONFIG of sysexits.h: the launcher knows that such an end is no fault of a version. */
export const NOT_THE_VERSION = 78

const CODES = new Set(['EADDRINUSE', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'ENOTDIR', 'EISDIR'])

/** Whether the agent cannot start because of its data or this device, and not because of an error in it. */
export function isOfTheDevice(error: unknown): boolean {
  return error instanceof DataFileError || CODES.has(codeOf(error) ?? '')
}

/** What is wrong with a file of the device, as a sentence; undefined for another error. */
export function explainFileError(error: unknown): string | undefined {
  if (error instanceof DataFileError) return error.message
  const { code, path } = error as NodeJS.ErrnoException
  return path !== undefined && code !== undefined ? `${path} cannot be used: ${inWords(error)} (${code}).` : undefined
}
