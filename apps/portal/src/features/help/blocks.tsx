import { Tabs } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Block, Choice, Inline } from './text.ts'
import styles from './help.module.css'

/* Array indexes are keys here, because a page never changes while it is shown. */

export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, index) => <OneBlock key={index} block={block} />)
}

function OneBlock({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case 'heading': {
      // The panel has the page's own title as its heading.
      const Heading = block.level === 2 ? 'h3' : 'h4'
      return (
        <Heading id={block.id}>
          <Words content={block.content} />
        </Heading>
      )
    }
    case 'paragraph':
      return (
        <p>
          <Words content={block.content} />
        </p>
      )
    case 'code':
      return (
        <Wide>
          <pre>
            <code>{block.text}</code>
          </pre>
        </Wide>
      )
    case 'table':
      return <WideTable block={block} />
    case 'choices':
      return <Choices choices={block.choices} />
    case 'list':
      break
  }
  const List = block.ordered ? 'ol' : 'ul'
  return (
    <List>
      {block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} />
        </li>
      ))}
    </List>
  )
}

/** A tab for each way. */
function Choices({ choices }: { choices: readonly Choice[] }) {
  return (
    <Tabs defaultValue="0" keepMounted={false} className={styles.choices}>
      <Tabs.List aria-label="Choose one">
        {choices.map(({ title }, index) => (
          <Tabs.Tab key={index} value={String(index)}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {choices.map(({ content }, index) => (
        <Tabs.Panel key={index} value={String(index)}>
          <Blocks blocks={content} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

/** Wide content scrolls by itself. Browsers make scrolling areas reachable by keyboard. */
function Wide({ children }: { children: ReactNode }) {
  return <div className={styles.wide}>{children}</div>
}

function WideTable({ block }: { block: Extract<Block, { kind: 'table' }> }) {
  const hasHead = block.head.some((cell) => cell.length > 0)
  return (
    <Wide>
      <table>
        {hasHead && (
          <thead>
            <tr>
              {block.head.map((cell, index) => {
                // An empty heading would be announced.
                const Cell = cell.length === 0 ? 'td' : 'th'
                return (
                  <Cell key={index} {...(Cell === 'th' && { scope: 'col' })}>
                    <Words content={cell} />
                  </Cell>
                )
              })}
            </tr>
          </thead>
        )}
        <tbody>
          {block.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Words content={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  )
}

function Words({ content }: { content: readonly Inline[] }): ReactNode {
  return content.map((part, index) => <Fragment key={index}>{wordsOf(part)}</Fragment>)
}

function wordsOf(part: Inline): ReactNode {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'code':
      return <code>{part.text}</code>
    case 'strong':
      return (
        <strong>
          <Words content={part.content} />
        </strong>
      )
    case 'emphasis':
      return (
        <em>
          <Words content={part.content} />
        </em>
      )
    case 'link':
      break
  }
  const content = <Words content={part.content} />
  if (part.to.startsWith('/')) return <Link to={part.to}>{content}</Link>
  return (
    <a href={part.to} target="_blank" rel="noreferrer">
      {content}
    </a>
  )
}
