import { readFileSync } from 'node:fs'
import { isMissing } from '../kernel/durable-file.ts'
import { folderOf, parseDeviceFile } from './parse.ts'
import { warningsOf } from './warnings.ts'

/**
 * `gateway check`: prints each error as `file:line:column: message`, which editors can open, and likewise warnings
 * about values that are valid but unwise.
 */
export function checkDeviceFile(
  path: string,
  environment: NodeJS.ProcessEnv,
  uiTarget?: URL,
): { text: string; isValid: boolean } {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error))
      return {
        text: `${path}: there is no such file. The gateway runs without it, and its API takes no reports.`,
        isValid: true,
      }
    return { text: `${path}: the file cannot be read.`, isValid: false }
  }
  const parsed = parseDeviceFile(text, folderOf(path), environment)
  if (!parsed.errors) {
    const warnings = warningsOf(parsed.value, uiTarget).map(({ path: at, message }) => {
      const { line, column } = parsed.placeOf(at)
      return `${path}:${line}:${column}: warning: ${message}`
    })
    return { text: [`${path}: no errors.`, ...warnings].join('\n'), isValid: true }
  }
  const lines = parsed.errors.map((error) => `${path}:${error.line}:${error.column}: ${error.message}`)
  return { text: lines.join('\n'), isValid: false }
}
