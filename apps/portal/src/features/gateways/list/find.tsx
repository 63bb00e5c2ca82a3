import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useMemo, type ReactNode } from 'react'
import { placeOptions } from '#api/places.ts'
import { tagOptions } from '#api/tags.ts'
import { PROTECTION_STATES, protectionWord } from '@hedgerow/contract/protection'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { CardsIcon, RowsIcon } from '@hedgerow/ui/icons.tsx'
import { SearchField } from '@hedgerow/ui/search-field.tsx'
import type { Layout, ProtectionFilter, SortKey, StatusFilter, View } from '../view.ts'
import styles from '../page.module.css'

const STATUSES: readonly (readonly [StatusFilter, string])[] = [
  ['any', 'Any status'],
  ['online', 'Online'],
  ['warning', 'Warning'],
  ['offline', 'Offline'],
  ['active', 'Online or warning'],
]
const PROTECTIONS: readonly (readonly [ProtectionFilter, string])[] = [
  ['any', 'Any protection'],
  ['attention', 'Needs attention'],
  ['not', 'Not protected'],
  ...PROTECTION_STATES.map((state) => [state, protectionWord(state)] as const),
]
const SORTS: readonly (readonly [SortKey, string])[] = [
  ['status', 'By status'],
  ['name', 'By name'],
  ['location', 'By location'],
  ['address', 'By address'],
  ['version', 'By version'],
  ['seen', 'Last seen first'],
  ['users', 'By connected users'],
]

const LAYOUTS: readonly (readonly [Layout, string, ReactNode])[] = [
  ['table', 'Table', <RowsIcon key="table" />],
  ['cards', 'Cards', <CardsIcon key="cards" />],
]

type FindProps = {
  view: View
  gateways: readonly Gateway[]
  /** The number of gateways of each tag. */
  tags: ReadonlyMap<string, number>
  onView: (change: Partial<View>) => void
  /** Changes when the search is changed by other means than typing. */
  revision: number
  onSearch: (text: string) => void
  children: string
}

/**
 * Search, status, protection, site, tag, table or cards and, without column heads, the order. `children` is the number
 * of matches.
 */
export function Find({ view, gateways, tags, onView, revision, onSearch, children }: FindProps) {
  const places = useMemo(() => placeOptions(gateways, view.site), [gateways, view.site])
  return (
    <div className={styles.find}>
      <output className={styles.count}>{children}</output>
      <Choice
        label="Filter by status"
        value={view.status}
        options={STATUSES}
        onChange={(status) => onView({ status })}
      />
      <Choice
        label="Filter by protection"
        value={view.protection}
        options={PROTECTIONS}
        onChange={(protection) => onView({ protection })}
      />
      {(places.length > 2 || view.site !== '') && (
        <Choice label="Filter by site" value={view.site} options={places} onChange={(site) => onView({ site })} />
      )}
      {(tags.size > 0 || view.tag !== '') && (
        <Choice
          label="Filter by tag"
          value={view.tag}
          options={tagOptions(tags, view.tag)}
          onChange={(tag) => onView({ tag })}
        />
      )}
      {view.alert !== '' && (
        <Button size="compact-sm" variant="default" onClick={() => onView({ alert: '' })}>
          Of one alert ×
        </Button>
      )}
      <div className={styles.order} data-needed={view.layout === 'cards'}>
        <Choice
          label="Sort gateways"
          value={view.sort}
          options={SORTS}
          onChange={(sort) => onView({ sort, descending: false })}
        />
      </div>
      <fieldset className={styles.layouts} aria-label="Show as">
        {LAYOUTS.map(([layout, name, icon]) => (
          <button
            key={layout}
            type="button"
            aria-label={name}
            title={name}
            aria-pressed={view.layout === layout}
            onClick={() => onView({ layout })}
          >
            {icon}
          </button>
        ))}
      </fieldset>
      <SearchField key={revision} label="Search gateways" initial={view.search} onSearch={onSearch} />
    </div>
  )
}
