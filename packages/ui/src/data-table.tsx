/**
 * A dense table. Its head stays in view; in a narrow window the rows become cards, or two lines each.
 */
import { memo, useState, type ComponentProps, type MouseEvent, type ReactNode, type Ref } from 'react'
import { useNavigate } from 'react-router'
import { ChevronIcon } from './icons.tsx'
import { RowButton } from './row-button.tsx'
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
  /** In a wide window rows of one line, as low as they can be, for a list of many. */
  dense?: boolean
  children: ReactNode
}

export function DataTable({
  label,
  columns,
  rowCount,
  bodyRef,
  cards = false,
  narrow = 'cards',
  dense = false,
  children,
}: DataTableProps) {
  return (
    <table
      className={styles.table}
      data-cards={cards}
      data-narrow={narrow}
      data-dense={dense}
      aria-label={label}
      aria-rowcount={rowCount + 1}
    >
      <Columns columns={columns} />
      <tbody ref={bodyRef}>{children}</tbody>
    </table>
  )
}

/** With the same `columns` it is not rendered again: a long list is, at each frame of scrolling. */
const Columns = memo(function Columns({ columns }: Pick<DataTableProps, 'columns'>) {
  return (
    <>
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
    </>
  )
})

type RowProps = ComponentProps<'tr'> & {
  /** The row's place in the whole list, from 0. */
  index: number
  /**
   * The page that a click beside the row's links and buttons opens. A link in the row must lead there too; it can be a
   * plain one, whose click the row handles: a link of the router's renders again whenever the address changes.
   */
  to?: string | undefined
  /** For a row of two lines without a page: whose rest a button shows, in a narrow window. */
  restOf?: string
}

export function Row({ index, to, restOf, children, ...row }: RowProps) {
  const navigate = useNavigate()
  const [isOpen, setIsOpen] = useState(false)
  const open = (event: MouseEvent<HTMLTableRowElement>) => {
    // The router's own links have handled their clicks.
    if (to === undefined || event.defaultPrevented) return
    if (isOnLinkTo(to, event)) {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      void navigate(to)
    } else if (isOnRow(event)) {
      if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(to, '_blank', 'noopener')
      else if (event.button === 0) void navigate(to)
    }
  }
  return (
    <tr
      {...row}
      className={[row.className, isOpen && styles.open].filter(Boolean).join(' ') || undefined}
      data-index={index}
      data-opens={to !== undefined}
      aria-rowindex={index + 2}
      onClick={open}
      onAuxClick={open}
    >
      {children}
      {restOf !== undefined && (
        <td className={styles.more}>
          <RowButton
            shape="icon"
            aria-label={`More about ${restOf}`}
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            <ChevronIcon />
          </RowButton>
        </td>
      )}
    </tr>
  )
}

const isOnLinkTo = (to: string, { target }: MouseEvent): boolean =>
  target instanceof Element && target.closest('a')?.getAttribute('href') === to

/** A click on a control or at the end of a text selection does not open the row. */
function isOnRow({ target }: MouseEvent): boolean {
  if (!(target instanceof Element) || target.closest('a, button, input, label, [role="menu"]') !== null) return false
  return window.getSelection()?.isCollapsed ?? true
}

type GroupRowProps = {
  ref: Ref<HTMLTableRowElement> | undefined
  index: number
  /** The number of columns of the table. */
  columns: number
  /** Before the name, such as a tick box for all rows of the group. */
  before: ReactNode
  name: string
  isFolded: boolean
  /** Undefined where it cannot be folded. */
  onFold: (() => void) | undefined
  children: ReactNode
}

/** Heads the rows after it, which it folds away. */
export function GroupRow({ ref, index, columns, before, name, isFolded, onFold, children }: GroupRowProps) {
  return (
    <tr ref={ref} className={styles.group} data-index={index} aria-rowindex={index + 2}>
      <td colSpan={columns}>
        <div>
          {before}
          {onFold === undefined ? (
            <strong>{name}</strong>
          ) : (
            <button type="button" aria-expanded={!isFolded} onClick={onFold}>
              <ChevronIcon />
              {name}
            </button>
          )}
          {children}
        </div>
      </td>
    </tr>
  )
}

type CellProps = {
  /** The column's name; a card shows it above the value. */
  label: string
  numeric?: boolean
  /**
   * In a card, `title` is its heading, `line` and `picture` have its whole width; all are without the column's name. In
   * two lines, `title` is the first one, `line` and `beside` are the second one, those that are numeric with the
   * column's name, and cells without a place are shown only in an open row. `below` is a third line of a phone, and
   * nowhere else.
   */
  place?: 'title' | 'line' | 'picture' | 'beside' | 'below'
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

/** The last cell: the actions of the row. A closed row of two lines hides those that are `rare`. */
export function ActionsCell({ rare = false, children }: { rare?: boolean; children: ReactNode }) {
  return (
    <td className={styles.actions} data-rare={rare}>
      <div>{children}</div>
    </td>
  )
}

/** The height of rows that are not drawn. */
export function Gap({ height }: { height: number }) {
  return height > 0 ? <tr aria-hidden="true" className={styles.gap} style={{ height }} /> : null
}

type TwoLinesProps = {
  first: ReactNode
  second: ReactNode
  /** A row of two lines shows the second one as its third. */
  kept?: boolean
}

/** Two lines in one cell: the main text, and a smaller one below it. */
export function TwoLines({ first, second, kept = false }: TwoLinesProps) {
  return (
    <div className={styles.lines}>
      <span>{first}</span>
      <span data-kept={kept}>{second}</span>
    </div>
  )
}

/** A name that may be long: in rows of one or two lines its middle is left out, and the whole of it shows on hover. */
export function RowName({ children: name }: { children: string }) {
  const cut = cutOf(name)
  return (
    <span className={styles.name} title={name}>
      <span>{name.slice(0, cut)}</span>
      {cut < name.length && <span>{name.slice(cut)}</span>}
    </span>
  )
}

/** A sentence that may be long: a closed row of two lines shows its beginning, on a phone in two lines. */
export function RowText({ children }: { children: ReactNode }) {
  return <span className={styles.text}>{children}</span>
}

const SHORT_NAME = 24
const NAME_END = 14
const LETTERS_END = 8

/** Where the end begins that is never left out: the last words with the space before them, or some letters. */
function cutOf(name: string): number {
  if (name.length <= SHORT_NAME) return name.length
  const cut = name.indexOf(' ', name.length - NAME_END)
  return cut > 0 ? cut : name.length - LETTERS_END
}

/** Shown for a missing value. */
export function Absent({ children }: { children: string }) {
  return <span className={styles.absent}>{children}</span>
}
