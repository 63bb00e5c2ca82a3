/** Lines whose value may be a secret: by the key, or an address with a password. */
const SECRET = /(?:pass|secret|token|key|user|auth)\w*['"]?\s*:|:\/\/[^/\s]*@|\$\{|!file/i
/** What is before the first part: comments, or all of a file that is not written by parts, as JSON. */
const BEFORE = 'other lines'
const PART = /^([A-Za-z_]\w*)\s*:/

/**
 * The parts of gateway.yaml that differ between two texts, without any value: `rules`, or `cameras (secret changed)`
 * where a line that may hold one differs.
 */
export function changedParts(before: string, after: string): string[] {
  const [old, now] = [linesByPart(before), linesByPart(after)]
  const parts = new Set([...old.keys(), ...now.keys()])
  return [...parts].flatMap((part) => {
    const [was, is] = [old.get(part) ?? [], now.get(part) ?? []]
    if (was.join('\n') === is.join('\n')) return []
    const differing = [...was.filter((line) => !is.includes(line)), ...is.filter((line) => !was.includes(line))]
    const name =
      part !== BEFORE ? part : differing.every((line) => line.startsWith('#')) ? 'the comment at the top' : part
    return differing.some((line) => SECRET.test(line)) ? [`${name} (secret changed)`] : [name]
  })
}

/** By the key at the beginning of a line. */
function linesByPart(text: string): Map<string, string[]> {
  const parts = new Map<string, string[]>()
  let part = BEFORE
  for (const line of text.split(/\r?\n/)) {
    part = PART.exec(line)?.[1] ?? part
    if (line.trim() !== '') parts.set(part, [...(parts.get(part) ?? []), line])
  }
  return parts
}
