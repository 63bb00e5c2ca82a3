import { TextInput } from '@mantine/core'
import { SearchIcon } from '#ui/icons.tsx'
import { Choice } from '#ui/choice.tsx'
import type { SortKey, StatusFilter, View } from './view.ts'
import styles from './page.module.css'

const STATUSES: readonly (readonly [StatusFilter, string])[] = [
  ['any', 'Any status'],
  ['online', 'Online'],
  ['warning', 'Warning'],
  ['offline', 'Offline'],
]
const SORTS: readonly (readonly [SortKey, string])[] = [
  ['name', 'By name'],
  ['status', 'By status'],
  ['location', 'By location'],
  ['address', 'By address'],
  ['version', 'By version'],
  ['seen', 'Last seen first'],
  ['users', 'By connected users'],
]

/** Search, status and, where the table has no heads to order by, the order. `children` says how many match. */
export function Find({ view, onView, children }: { view: View; onView: (view: View) => void; children: string }) {
  return (
    <div className={styles.find}>
      <output className={styles.count}>{children}</output>
      <Choice
        label="Filter by status"
        value={view.status}
        options={STATUSES}
        onChange={(status) => onView({ ...view, status })}
      />
      <div className={styles.order}>
        <Choice
          label="Sort gateways"
          value={view.sort}
          options={SORTS}
          onChange={(sort) => onView({ ...view, sort, descending: false })}
        />
      </div>
      <TextInput
        type="search"
        size="sm"
        aria-label="Search gateways"
        placeholder="Search gateways"
        leftSection={<SearchIcon />}
        value={view.search}
        onChange={(event) => onView({ ...view, search: event.currentTarget.value })}
      />
    </div>
  )
}
