/** The documents of operation, which the build has parsed. The address holds the page and the search. */
import { useEffect, useMemo } from 'react'
import { Link, NavLink, useLocation, useParams, useSearchParams } from 'react-router'
import { pages } from 'virtual:help-pages'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { SearchField } from '@hedgerow/ui/search-field.tsx'
import { Blocks } from './blocks.tsx'
import { search, sectionsOf, type Found } from './search.ts'
import { addressOf, FIRST_PAGE, type HelpPage } from './text.ts'
import styles from './help.module.css'

const LEAD = 'How this hub and its gateways are run. The hub itself serves these pages.'

export function HelpScreen() {
  const { page: name = FIRST_PAGE } = useParams()
  const [parameters, setParameters] = useSearchParams()
  const query = parameters.get('q') ?? ''
  const page = pages.find((candidate) => candidate.name === name)
  const sections = useMemo(() => sectionsOf(pages), [])
  return (
    <>
      <PageHead title="Help" tab={page === undefined ? 'Help' : `${page.title} · Help`} lead={LEAD} />
      <div className={styles.columns}>
        <div className={styles.side}>
          {/* A link without a search empties the field. */}
          <SearchField
            key={name}
            label="Search the help"
            initial={query}
            onSearch={(text) => setParameters(text === '' ? {} : { q: text }, { replace: true })}
          />
          <nav aria-label="Pages of help" className={styles.pages}>
            {pages.map((entry) => (
              <NavLink key={entry.name} end to={addressOf(entry.name)}>
                {entry.title}
              </NavLink>
            ))}
          </nav>
        </div>
        {query !== '' ? (
          <FoundList query={query} found={search(sections, query)} />
        ) : page === undefined ? (
          <Panel title="Help">
            <PanelEmpty title="There is no such page">Search the help, or choose a page from the list.</PanelEmpty>
          </Panel>
        ) : (
          <Article key={page.name} page={page} />
        )}
      </div>
    </>
  )
}

function Article({ page }: { page: HelpPage }) {
  const { hash } = useLocation()
  useEffect(() => {
    if (hash !== '') document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView()
  }, [hash])
  return (
    <Panel title={page.title}>
      <article className={styles.article}>
        <Blocks blocks={page.blocks} />
      </article>
    </Panel>
  )
}

function FoundList({ query, found }: { query: string; found: readonly Found[] }) {
  return (
    <Panel title={`Found for “${query}”`}>
      {found.length === 0 ? (
        <PanelEmpty title="Nothing found">A section must contain all words. Try fewer words.</PanelEmpty>
      ) : (
        <ul className={styles.found}>
          {found.map(({ page, title, id, heading, excerpt }) => (
            <li key={`${page}#${id}`}>
              <Link to={addressOf(page, id)}>{heading === '' ? title : `${title} › ${heading}`}</Link>
              <p>{excerpt}</p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
