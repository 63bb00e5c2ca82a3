import { join } from 'node:path'
import { readNames, RECORD_FILE } from '../detections/record.ts'
import { isMissing } from '../kernel/durable-file.ts'
import { explainFileError } from '../kernel/startup-error.ts'
import { readLearnedNames } from '../learning/names.ts'
import { readModelLabels, modelsFolder } from '../models/store.ts'
import { fetchFrigateNames } from '../sources/frigate/names.ts'
import { withGivenCameras } from './given-cameras.ts'
import { checkNames, type NameFindings } from './known-names.ts'
import { folderOf, parseDeviceFile, type Parsed } from './parse.ts'
import { readText, UnreadableText } from './read-text.ts'
import type { FileError } from './yaml.ts'

const FRIGATE_TIMEOUT_MS = 5_000

/**
 * `gateway check`: prints each error as `file:line:column: message`, which editors can open, and likewise warnings
 * about values that are valid but unwise. Asks Frigate, the record and the models for the names that they provide.
 */
export async function checkDeviceFile(
  path: string,
  options: {
    dataDir: string
    environment: NodeJS.ProcessEnv
    uiTarget?: URL | undefined
    givenCameras?: readonly string[] | undefined
  },
): Promise<{ text: string; isValid: boolean }> {
  let text: string
  try {
    text = await readText(path)
  } catch (error) {
    if (isMissing(error))
      return {
        text: `${path}: there is no such file. The gateway runs without it, and its API takes no reports.`,
        isValid: true,
      }
    const message = error instanceof UnreadableText ? error.message : 'The file cannot be read.'
    return { text: `${path}: ${message}`, isValid: false }
  }
  const secrets = { folder: folderOf(path), environment: options.environment }
  const parsed = parseDeviceFile(text, secrets, options.uiTarget)
  if (parsed.errors) return { text: linesOf(path, parsed.errors), isValid: false }
  const { errors, warnings, unread } = await findNames(parsed, options)
  const warned = linesOf(path, [...warnings, ...parsed.warnings], 'warning: ')
  const first = errors.length > 0 ? linesOf(path, errors) : `${path}: no errors.`
  const lines = [first, ...(warned ? [warned] : []), ...unread.map((sentence) => `warning: ${sentence}`)]
  return { text: lines.join('\n'), isValid: errors.length === 0 }
}

/** As editors and compilers write them. */
export function linesOf(path: string, findings: readonly FileError[], word = ''): string {
  return findings.map(({ line, column, message }) => `${path}:${line}:${column}: ${word}${message}`).join('\n')
}

async function findNames(
  { value, names }: Extract<Parsed, { errors?: undefined }>,
  { dataDir, givenCameras = [] }: { dataDir: string; givenCameras?: readonly string[] | undefined },
): Promise<NameFindings & { unread: string[] }> {
  const { frigate } = value.sources
  const unread: string[] = []
  /** The file can be checked without what is damaged. */
  function tell(error: unknown): undefined {
    const sentence = explainFileError(error)
    if (sentence === undefined) throw error
    unread.push(sentence)
  }
  const recorded = await Promise.try(readNames, join(dataDir, RECORD_FILE)).catch(tell)
  const found = checkNames(withGivenCameras(value, givenCameras), names, {
    frigate: frigate && (await fetchFrigateNames(frigate, AbortSignal.timeout(FRIGATE_TIMEOUT_MS))),
    programs: recorded?.programs ?? [],
    seen: recorded?.seen,
    models: await readModelLabels(modelsFolder(dataDir)).catch(tell),
    learned: readLearnedNames(dataDir),
  })
  return { ...found, unread }
}
