import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateDirectory } from './durable-file.ts'

const FILE_NAME = /^(\d{12})\.jsonl$/

/**
 * A folder of files of JSON lines, whose names are numbers. It may vanish while the agent runs, such as with the disk
 * that it is on, and come back.
 */
export function numberedFiles(folder: string) {
  return {
    pathOf: (number: number): string => join(folder, `${String(number).padStart(12, '0')}.jsonl`),
    /** The numbers of the files that are there now. Makes the folder when it is missing. */
    async list(): Promise<number[]> {
      await makePrivateDirectory(folder)
      const numbers = (await readdir(folder)).flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []).map(Number)
      return numbers.sort((a, b) => a - b)
    },
  }
}
