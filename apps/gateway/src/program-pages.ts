import { readFile, readlink } from 'node:fs/promises'
import { openFunctions } from '@hedgerow/wireguard/node'

const MADV_DONTNEED = 4

type Pages = { from: bigint; bytes: bigint }

/**
 * Takes the code of Node's program out of this process's memory. What runs again comes back from the kernel's cache of
 * the file, 64 KiB at a time; what only the start needed does not. Does nothing where the system
 * lacks the call (madvise(2)).
 */
export async function releaseProgramPages(): Promise<void> {
  const libc = openFunctions<{ madvise(from: bigint, bytes: bigint, advice: number): number }>({
    madvise: { arguments: ['pointer', 'pointer', 'int32'], return: 'int32' },
  })
  if (!libc) return
  for (const { from, bytes } of await codeOfProgram()) libc.madvise(from, bytes, MADV_DONTNEED)
}

/** Code that this process changed, as a debugger does, stays: it is not in the file (proc_pid_smaps(5)). */
async function codeOfProgram(): Promise<Pages[]> {
  const program = await readlink('/proc/self/exe')
  const mappings = (await readFile('/proc/self/smaps', 'latin1')).split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)
  return mappings.flatMap((mapping) => {
    const [, from, to, file] = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \d+ +(\S.*)\n/.exec(mapping) ?? []
    if (file !== program || !/^Anonymous: +0 kB$/m.test(mapping)) return []
    return [{ from: BigInt(`0x${from}`), bytes: BigInt(`0x${to}`) - BigInt(`0x${from}`) }]
  })
}
