import type { Gateway } from '@hedgerow/contract'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'
import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { isAt, placeOptions } from '#api/places.ts'
import { countTags, tagOptions } from '#api/tags.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { DayField } from '@hedgerow/ui/day-field.tsx'
import { countsOf, EVERYTHING, isMoment, type Filter } from './filter.ts'
import type { useCounts } from './queries.ts'
import styles from './threats.module.css'

const LABELS_SHOWN = 8

const REVIEWS = [
  ['any', 'All'],
  ['none', 'To review'],
  ['right', 'Correct'],
  ['wrong', 'Wrong'],
] as const

const LEARNING = [
  ['hidden', 'Hidden by learning'],
  ['doubtful', 'Worth a second look'],
] as const

type FiltersProps = {
  filter: Filter
  gateways: readonly Gateway[]
  counts: ReturnType<typeof useCounts>['data']
  onChange: (change: Partial<Filter>) => void
}

/** The filters, each value with its number of incidents. */
export function Filters({ filter, gateways, counts, onChange }: FiltersProps) {
  const groups = counts?.groups ?? []
  const reviews = countsOf(groups, 'review', filter)
  const severities = countsOf(groups, 'severity', filter)
  const labels = countsOf(groups, 'label', filter)
  const fired = countsOf(groups, 'fired', filter)
  const places = placeOptions(gateways, filter.site)
  const tags = countTags(gateways)
  const ofSite = gateways
    .filter((gateway) => isAt(gateway, filter.site) && (filter.tag === '' || gateway.tags.includes(filter.tag)))
    .toSorted((a, b) => byNaturalOrder(a.name, b.name))
  const number = (count: number | undefined) => (
    <span className={styles.number}>
      {(count ?? 0).toLocaleString('en')}
      {counts?.isWhole === false && '+'}
    </span>
  )
  const all = [...reviews.values()].reduce((sum, count) => sum + count, 0)
  const shownLabels = [...new Set([...filter.labels, ...labels.keys()])].slice(
    0,
    Math.max(LABELS_SHOWN, filter.labels.length),
  )
  const [isPlaceOpen, setPlaceOpen] = useState(false)
  const { site, tag, gateway, camera, alert, from, to } = filter
  const isPlaceSet = [site, tag, gateway, camera, alert, from, to].some((value) => value !== '')
  const toggle = (label: string) =>
    onChange({
      labels: filter.labels.includes(label) ? filter.labels.filter((one) => one !== label) : [...filter.labels, label],
    })
  return (
    <search className={styles.filters} aria-label="Filter incidents">
      <fieldset className={styles.segments} aria-label="Review">
        {REVIEWS.map(([value, words]) => (
          <Toggle key={value} isOn={filter.review === value} onClick={() => onChange({ review: value })}>
            {words} {number(value === 'any' ? all : reviews.get(value))}
          </Toggle>
        ))}
      </fieldset>
      <div className={styles.choices}>
        <button
          type="button"
          className={styles.place}
          aria-expanded={isPlaceOpen}
          data-set={isPlaceSet}
          onClick={() => setPlaceOpen(!isPlaceOpen)}
        >
          Where and when
        </button>
        {shownLabels.length > 0 && (
          <fieldset className={styles.segments} aria-label="Label">
            {shownLabels.map((label) => (
              <Toggle key={label} isOn={filter.labels.includes(label)} onClick={() => toggle(label)}>
                {label} {number(labels.get(label))}
              </Toggle>
            ))}
          </fieldset>
        )}
        <fieldset className={styles.segments} aria-label="More">
          <Toggle
            isOn={filter.severity === 'alert'}
            onClick={() => onChange({ severity: filter.severity === 'alert' ? 'any' : 'alert' })}
          >
            Alerts {number(severities.get('alert'))}
          </Toggle>
          <Toggle isOn={filter.fired} onClick={() => onChange({ fired: !filter.fired })}>
            Deterrent fired {number(fired.get('yes'))}
          </Toggle>
          {LEARNING.filter(([value]) => (counts?.[value] ?? 0) > 0 || filter.learning === value).map(
            ([value, words]) => (
              <Toggle
                key={value}
                isOn={filter.learning === value}
                onClick={() => onChange({ learning: filter.learning === value ? 'any' : value })}
              >
                {words} {number(counts?.[value])}
              </Toggle>
            ),
          )}
        </fieldset>
      </div>
      <div className={styles.fields} data-open={isPlaceOpen}>
        {(places.length > 2 || filter.site !== '') && (
          <Choice
            label="Site"
            value={filter.site}
            options={places}
            onChange={(site) => onChange({ site, gateway: '', camera: '' })}
          />
        )}
        {(tags.size > 0 || filter.tag !== '') && (
          <Choice
            label="Tag"
            value={filter.tag}
            options={tagOptions(tags, filter.tag)}
            onChange={(tag) => onChange({ tag, gateway: '', camera: '' })}
          />
        )}
        {gateways.length > 1 && (
          <Choice
            label="Gateway"
            value={filter.gateway}
            options={[['', 'All gateways'], ...ofSite.map(({ id, name }) => [id, name] as const)]}
            onChange={(gateway) => onChange({ gateway, camera: '' })}
          />
        )}
        {filter.alert !== '' && (
          <Button size="compact-sm" variant="default" onClick={() => onChange({ alert: '' })}>
            Of one alert ×
          </Button>
        )}
        {filter.camera !== '' && (
          <Button size="compact-sm" variant="default" onClick={() => onChange({ camera: '' })}>
            Camera {filter.camera} ×
          </Button>
        )}
        {(isMoment(filter.from) || isMoment(filter.to)) && (
          <Button size="compact-sm" variant="default" onClick={() => onChange({ from: '', to: '' })}>
            {stretchInWords(filter)} ×
          </Button>
        )}
        <DayField
          label="From"
          value={isMoment(filter.from) ? '' : filter.from}
          onChange={(from) => onChange({ from })}
        />
        <DayField label="To" value={isMoment(filter.to) ? '' : filter.to} onChange={(to) => onChange({ to })} />
        {filter !== EVERYTHING && JSON.stringify(filter) !== JSON.stringify(EVERYTHING) && (
          <Button size="compact-sm" variant="subtle" onClick={() => onChange(EVERYTHING)}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  )
}

function Toggle({ isOn, onClick, children }: { isOn: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" className={styles.toggle} aria-pressed={isOn} onClick={onClick}>
      {children}
    </button>
  )
}

/** `22 Nov, 10:00 – 11:00` */
function stretchInWords({ from, to }: Filter): string {
  const words = (moment: string) =>
    new Date(moment).toLocaleString(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })
  return [from, to].map((moment) => (moment === '' ? '' : words(moment))).join(' – ')
}
