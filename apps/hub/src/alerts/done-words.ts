/** What was done about the incidents of an alert, for its lines: known only some seconds after it began. */
import type { Deed } from '@hedgerow/contract'
import { deedLine } from '@hedgerow/contract/protection'
import type { Db } from '../database/tables.ts'
import { readDeeds } from '../detections/detections.ts'
import { LINES_MAX, type Line, type LineList } from './words.ts'

export async function withDeeds(db: Db, told: LineList): Promise<LineList> {
  const lines = await Promise.all(
    told.lines.map(async (line, index): Promise<Line> => {
      if (line.kind !== 'detection' || index >= LINES_MAX) return line
      const deeds = await readDeeds(db, { gatewayId: line.gatewayId, incidentId: line.id })
      const distinct = (words: (deed: Deed) => string) => [...new Set(deeds.map(words))].join('; ')
      return { ...line, detail: { en: distinct(deedLine), de: distinct(inGerman) } }
    }),
  )
  return { ...told, lines }
}

const GERMAN = new Map([
  ['disarmed', 'entschärft'],
  ['cool_down', 'Pause nach dem letzten Mal'],
  ['quiet_hours', 'Ruhezeit'],
  ['person_near', 'eine Person wurde gesehen'],
  ['hour_budget', 'Zeit dieser Stunde verbraucht'],
  ['day_budget', 'Zeit dieses Tages verbraucht'],
  ['not_watched', 'keine Kamera achtet auf Personen'],
  ['device_failed', 'das Gerät antwortet nicht'],
])

function inGerman({ deterrent, seconds, outcome, code, reason, gone }: Deed): string {
  if (outcome === 'fired') {
    const after = gone === null ? '' : gone ? ' · nach 1 min weg' : ' · nach 1 min noch da'
    return `${deterrent} ${seconds} s${after}`
  }
  const why = (code !== null && GERMAN.get(code)) || reason
  return `${deterrent} ${outcome === 'refused' ? 'blockiert' : 'gestört'}: ${why}`
}
