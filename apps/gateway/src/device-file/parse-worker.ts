/** The thread that parses and edits texts which people send: a text that takes long holds nothing else up. */
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Rehearsal } from '@hedgerow/contract/device-interface'
import { applyEdits, NotEditable, type Edit } from './edit-text.ts'
import { hasSecrets, parseDeviceFile, type Parsed } from './parse.ts'
import { rehearse, type Recent } from '../rules/rehearse.ts'
import type { DryRunFile } from '../rules/dry-run.ts'
import type { Secrets } from './secrets.ts'
import { readYaml, writtenOf } from './yaml.ts'

/** `edits` are made first, in a text without errors. */
export type ParseTask = {
  text: string
  edits?: readonly Edit[] | undefined
  secrets: Secrets
  uiTarget?: string | undefined
  /** What the rules would have done, compared with those before. */
  rehearse?: (Recent & { before: DryRunFile }) | undefined
}
/** Of the text after the edits. `written`: its values as they are written. `refused`: why they cannot be made. */
export type ParseAnswer = {
  text: string
  parsed: Parsed
  hasSecrets: boolean
  written?: unknown
  refused?: string
  rehearsal?: Rehearsal | undefined
}

// Linux gives each thread a priority of its own; elsewhere this would slow the whole agent down.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
parentPort!.on('message', (task: ParseTask) => parentPort!.postMessage(answerTo(task)))

function answerTo({ text, edits = [], secrets, uiTarget, rehearse: wanted }: ParseTask): ParseAnswer {
  const edited = editedText(text, edits)
  if ('refused' in edited) return { ...edited, text, parsed: { errors: [] }, hasSecrets: false }
  const parsed = parseDeviceFile(edited.text, secrets, uiTarget === undefined ? undefined : new URL(uiTarget))
  const { yaml } = readYaml(edited.text)
  return {
    ...edited,
    parsed,
    hasSecrets: hasSecrets(edited.text),
    written: yaml && writtenOf(yaml.document),
    rehearsal: wanted && parsed.value && rehearse(parsed.value, wanted.before, wanted),
  }
}

function editedText(text: string, edits: readonly Edit[]): { text: string } | { refused: string } {
  try {
    return { text: applyEdits(text, edits) }
  } catch (error) {
    if (error instanceof NotEditable) return { refused: error.message }
    throw error
  }
}
