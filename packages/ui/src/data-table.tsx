/**
 * A dense table. Its head stays in view; in a narrow window the rows become cards, or two lines each.
 */
import type { ComponentProps, MouseEvent, ReactNode, Ref } from 'react'
import { useNavigate } from 'react-router'
import styles from './data-table.module.css'

type Order = 'ascending' | 'descending' | 'none'
/** With `onSort` the head is a button that orders the table by this column; `head` replaces the name. */
export type Column = {
  name: string
  width?: string
  numeric?: boolean
  order?: Order
  onSort?: () => void
  head?: ReactNode
}

type DataTableProps = {
  label: string
  columns: readonly Column[]
  /** The length of the whole list, also when only some rows are drawn. */
  rowCount: number
  bodyRef?: Ref<HTMLTableSectionElement>
  /** Cards in a wide window too: three per row and all of one height, so lines that are too long are cut. */
  cards?: boolean
  /** In a narrow window: a card for each row, or two lines with only the placed cells and the actions. */
  narrow?: 'cards' | 'lines'
  children: ReactNode
}

export function DataTable({
  label,
  columns,
  rowCount,
  bodyRef,
  cards = false,
  narrow = 'cards',
  children,
}: DataTableProps) {
  return (
    <table
      className={styles.table}
      data-cards={cards}
      data-narrow={narrow}
      aria-label={label}
      aria-rowcount={rowCount + 1}
    >
      <colgroup>
        {columns.map(({ name, width }) => (
          <col key={name} style={{ width }} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ name, numeric, order, onSort, head = name }) => (
            <th key={name} scope="col" data-numeric={numeric} aria-sort={order === 'none' ? undefined : order}>
              {onSort === undefined ? (
                head
              ) : (
                <button type="button" className={styles.sort} data-order={order} onClick={onSort}>
                  {name}
                </button>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={bodyRef}>{children}</tbody>
    </table>
  )
}

type RowProps = ComponentProps<'tr'> & {
  /** The row's place in the whole list, from 0. */
  index: number
  /** The page that a click beside the row's links and buttons opens; a link in the row must lead there too. */
  to?: string | undefined
}

export function Row({ index, to, ...row }: RowProps) {
  const navigate = useNavigate()
  const open = (event: MouseEvent<HTMLTableRowElement>) => {
    if (to === undefined || !isOnRow(event)) return
    if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(to, '_blank', 'noopener')
    else if (event.button === 0) void navigate(to)
  }
  return (
    <tr
      {...row}
      data-index={index}
      data-opens={to !== undefined}
      aria-rowindex={index + 2}
      onClick={open}
      onAuxClick={open}
    />
  )
}

/** A click on a control or at the end of a text selection does not open the row. */
function isOnRow({ target }: MouseEvent): boolean {
  if (!(target instanceof Element) || target.closest('a, button, input, label, [role="menu"]') !== null) return false
  return window.getSelection()?.isCollapsed ?? true
}

type CellProps = {
  /** The column's name; a card shows it above the value. */
  label: string
  numeric?: boolean
  /**
   * In a card, `title` is its heading, `line` and `picture` have its whole width; all are without the column's name. In
   * two lines, `title` is the first one, `line` and `beside` are the second one, and cells without a place are hidden.
   */
  place?: 'title' | 'line' | 'picture' | 'beside'
  children: ReactNode
}

export function Cell({ label, numeric, place, children }: CellProps) {
  return (
    <td className={styles.cell} data-numeric={numeric} data-place={place} data-label={label}>
      {children}
    </td>
  )
}

/** The first cell of a table whose rows can be selected: a tick box. */
export function TickCell({ children }: { children: ReactNode }) {
  return <td className={styles.tick}>{children}</td>
}

/** The last cell: the actions of the row. */
export function ActionsCell({ children }: { children: ReactNode }) {
  return (
    <td className={styles.actions}>
      <div>{children}</div>
    </td>
  )
}

/** The height of rows that are not drawn. */
export function Gap({ height }: { height: number }) {
  return height > 0 ? <tr aria-hidden="true" className={styles.gap} style={{ height }} /> : null
}

/** Two lines in one cell: the main text, and a smaller one below it. */
export function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <div className={styles.lines}>
      <span>{first}</span>
      <span>{second}</span>
    </div>
  )
}

/** Shown for a missing value. */
export function Absent({ children }: { children: string }) {
  return <span className={styles.absent}>{children}</span>
}
