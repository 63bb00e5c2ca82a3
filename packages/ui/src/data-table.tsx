/**
 * A dense table that becomes a stack of cards in a narrow window.
 */
import type { ComponentProps, ReactNode, Ref } from 'react'
import styles from './data-table.module.css'

type Order = 'ascending' | 'descending' | 'none'
/** With `onSort` the head is a button that orders the table by this column. */
export type Column = { name: string; width?: string; numeric?: boolean; order?: Order; onSort?: () => void }

type DataTableProps = {
  label: string
  columns: readonly Column[]
  /** The length of the whole list, also when only some rows are drawn. */
  rowCount: number
  bodyRef?: Ref<HTMLTableSectionElement>
  /** Cards in a wide window too: three per row and all of one height, so lines that are too long are cut. */
  cards?: boolean
  children: ReactNode
}

export function DataTable({ label, columns, rowCount, bodyRef, cards = false, children }: DataTableProps) {
  return (
    <table className={styles.table} data-cards={cards} aria-label={label} aria-rowcount={rowCount + 1}>
      <colgroup>
        {columns.map(({ name, width }) => (
          <col key={name} style={{ width }} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ name, numeric, order, onSort }) => (
            <th key={name} scope="col" data-numeric={numeric} aria-sort={order === 'none' ? undefined : order}>
              {onSort === undefined ? (
                name
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

/** `index` is the row's place in the whole list, from 0. */
export function Row({ index, ...row }: ComponentProps<'tr'> & { index: number }) {
  return <tr {...row} data-index={index} aria-rowindex={index + 2} />
}

type CellProps = {
  /** The column's name; a card shows it above the value. */
  label: string
  numeric?: boolean
  /** In a card, `title` is its heading and `line` has its whole width; both are without the column's name. */
  place?: 'title' | 'line'
  children: ReactNode
}

export function Cell({ label, numeric, place, children }: CellProps) {
  return (
    <td className={styles.cell} data-numeric={numeric} data-place={place} data-label={label}>
      {children}
    </td>
  )
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
