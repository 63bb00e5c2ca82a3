/** Values that a file names instead of holding them: `${NAME}` and `!file PATH`. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { visit, type Document, type Node, type Scalar } from 'yaml'

/**
 * `folder`: what paths of `!file` are relative to. `hidden` reads no variable and no file: each such value is some
 * text, so that a person who may not have the secrets can check the rest.
 */
export type Secrets = { folder: string; environment: NodeJS.ProcessEnv } | 'hidden'

/** What was written, by the node that has the value now. */
export type Written = ReadonlyMap<Node, string>

const SECRET_MAX_BYTES = 65_536
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}/g
const ENCODED = /%[0-9A-Fa-f]{2}/
/** An address up to the end of its user and password. */
const SIGN_IN = /^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i
/** Some text for a hidden value: one of these suits most settings. */
const standIns = [
  (index: number) => `hidden-value-of-the-device-${index}`,
  (index: number) => `http://hidden-${index}.invalid`,
  (index: number) => `mqtt://hidden-${index}.invalid`,
  (index: number) => String(index % 60_000),
  () => '00:00-24:00',
] as const
export const STAND_INS = standIns.length

export type Named = { node: Scalar; written: string; isFile: boolean }

/** The values of a document that are named; keys never are. */
export function findNamed(document: Document): Named[] {
  const found: Named[] = []
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return
      const isFile = node.tag === '!file'
      if (isFile || node.value.search(VARIABLE) >= 0)
        found.push({ node, written: isFile ? `!file ${node.value}` : node.value, isFile })
    },
  })
  return found
}

/**
 * Replaces the node's value. Returns an error sentence, without a value in it, when it cannot. `onEncoded` gets the
 * name of each variable in a user or password that looks percent-encoded, as version 0.1 wanted it.
 */
export function putSecret(
  { node, written, isFile }: Named,
  { folder, environment }: Exclude<Secrets, 'hidden'>,
  onEncoded: (name: string) => void,
) {
  if (isFile) {
    const read = readSecret(resolve(folder, String(node.value)))
    if ('problem' in read) return read.problem
    node.value = read.text
    return undefined
  }
  let missing: string | undefined
  node.value = withVariables(written, (name, isSignIn) => {
    const value = environment[name]
    if (value === undefined) missing ??= name
    if (isSignIn && value !== undefined && ENCODED.test(value)) onEncoded(name)
    return value ?? ''
  })
  return missing === undefined ? undefined : `The environment variable ${missing} is not set.`
}

/** Gives a hidden value the stand-in of this number. */
export function putStandIn({ node, written, isFile }: Named, index: number, choice: number): void {
  const standIn = standIns[choice]!(index)
  node.value = isFile ? standIn : withVariables(written, () => standIn)
}

function withVariables(written: string, valueOf: (name: string, isSignIn: boolean) => string): string {
  const signIn = SIGN_IN.exec(written.replaceAll(VARIABLE, (whole) => '_'.repeat(whole.length)))?.[0].length ?? 0
  return written.replaceAll(VARIABLE, (_whole, name: string, at: number) =>
    at < signIn ? forSignIn(valueOf(name, true)) : valueOf(name, false),
  )
}

/** A variable holds a user or a password as it is: signs that mean something in an address are encoded. */
function forSignIn(value: string): string {
  return value.toWellFormed().replace(/[^A-Za-z0-9:._~!$&'()*+,;=-]/gu, encodeURIComponent)
}

/** A device or a pipe has no end, and opening a pipe waits. */
function readSecret(path: string): { text: string } | { problem: string } {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = fstatSync(file)
    if (!found.isFile() || found.size > SECRET_MAX_BYTES)
      return { problem: '!file must name a regular file of at most 64 KiB.' }
    const bytes = Buffer.alloc(SECRET_MAX_BYTES)
    const length = readSync(file, bytes, 0, bytes.length, 0)
    return { text: bytes.toString('utf8', 0, length).trim() }
  } catch {
    return { problem: 'The file that !file names cannot be read.' }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
