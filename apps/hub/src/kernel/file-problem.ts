/** What the system says about a file, in words. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not do that',
  EPERM: 'this user may not do that',
  EEXIST: 'something else has that name',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk space of this user is used up',
  EROFS: 'the disk is read-only',
  EIO: 'the disk fails',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
}

/** Part of a sentence, with the system's code. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined ? message : `${WORDS[code] ?? message} (${code})`
}
