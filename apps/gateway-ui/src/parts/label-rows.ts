/** The scores and sizes of a camera as rows of a form, one for each label. Shares are in percent. */
import type { CameraSettings } from '@hedgerow/contract/device-interface'

export type LabelRow = {
  key: string
  label: string
  score?: number | undefined
  minimumArea?: number | undefined
  maximumArea?: number | undefined
  minimumShape?: number | undefined
  maximumShape?: number | undefined
}

type Values = Pick<CameraSettings, 'scores' | 'sizes'>

export function rowsOf({ scores, sizes }: Values): LabelRow[] {
  return [...new Set([...Object.keys(scores), ...Object.keys(sizes)])].map((label) => {
    const { minimumArea, maximumArea, minimumShape, maximumShape } = sizes[label] ?? {}
    return {
      key: label,
      label,
      score: percent(scores[label]),
      minimumArea: percent(minimumArea),
      maximumArea: percent(maximumArea),
      minimumShape,
      maximumShape,
    }
  })
}

/** In the form of gateway.yaml: without what is empty. */
export function valuesOf(rows: readonly LabelRow[]): Values {
  const values: Values = { scores: {}, sizes: {} }
  for (const { label, score, minimumArea, maximumArea, minimumShape, maximumShape } of rows) {
    const name = label.trim()
    if (score !== undefined) values.scores[name] = share(score)
    const limits = {
      ...(minimumArea !== undefined && { minimumArea: share(minimumArea) }),
      ...(maximumArea !== undefined && { maximumArea: share(maximumArea) }),
      ...(minimumShape !== undefined && { minimumShape }),
      ...(maximumShape !== undefined && { maximumShape }),
    }
    if (Object.keys(limits).length > 0) values.sizes[name] = limits
  }
  return values
}

/** Why the rows cannot be saved, in words. */
export function problemOf(rows: readonly LabelRow[]): string | undefined {
  const names = rows.map(({ label }) => label.trim().toLowerCase())
  if (names.includes('')) return 'Each row needs a label.'
  if (new Set(names).size < names.length) return 'A label has two rows.'
  if (rows.some(({ score }) => score !== undefined && score < 10)) return 'A score is at least 10 %.'
  const isTurned = ({ minimumArea = 0, maximumArea = 100, minimumShape = 0, maximumShape = Infinity }: LabelRow) =>
    minimumArea >= maximumArea || minimumShape >= maximumShape
  return rows.some(isTurned) ? 'A minimum is less than its maximum.' : undefined
}

const percent = (value: number | undefined) => value && Math.round(value * 10_000) / 100
const share = (value: number) => Math.round(value * 100) / 10_000
