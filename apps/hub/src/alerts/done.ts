/** What was done about the incidents of an alert, for its lines: known only some seconds after it began. */
import type { Deed } from '@hedgerow/contract'
import { deedLine } from '@hedgerow/contract/protection'
import type { Db } from '../database/tables.ts'
import { readDeeds } from '../detections/detections.ts'
import { deedInGerman } from './alert-words.ts'
import { LINES_MAX, type Line, type LineList } from './words.ts'

export async function withDeeds(db: Db, list: LineList): Promise<LineList> {
  const lines = await Promise.all(
    list.lines.map(async (line, index): Promise<Line> => {
      if (line.kind !== 'detection' || index >= LINES_MAX) return line
      const deeds = await readDeeds(db, { gatewayId: line.gatewayId, incidentId: line.id })
      const distinct = (words: (deed: Deed) => string) => [...new Set(deeds.map(words))].join('; ')
      return { ...line, detail: { en: distinct(deedLine), de: distinct(deedInGerman) } }
    }),
  )
  return { ...list, lines }
}
