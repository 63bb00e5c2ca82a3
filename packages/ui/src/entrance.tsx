import type { ReactNode } from 'react'
import styles from './entrance.module.css'
import { Wordmark } from './wordmark.tsx'

/** A page before sign-in: its title in the tab, and its form in the frame. */
export function Entrance({ title, place = 'Hub', home = '/', children }: EntranceProps) {
  return (
    <>
      <title>{`${title} · ${place}`}</title>
      <EntranceFrame home={home}>{children}</EntranceFrame>
    </>
  )
}

type EntranceProps = {
  title: string
  /** The owner of the page, for the tab's title. */
  place?: string
  home?: string
  children: ReactNode
}

/** The product's name, one form, and a hedge at dusk. */
export function EntranceFrame({ home, children }: { home: string; children: ReactNode }) {
  return (
    <div className={styles.screen}>
      <header className={styles.bar}>
        {/* This is the public page of the hub or of the device, not a screen. */}
        <a className={styles.home} href={home}>
          <Wordmark />
        </a>
      </header>
      <p className={styles.scene} aria-hidden="true">
        <span>See what comes over the hedge.</span>
      </p>
      <main className={styles.main}>
        <div className={styles.column}>{children}</div>
      </main>
      <HedgeLine />
    </div>
  )
}

/** The page's title, and a sentence about it. */
export function EntranceHead({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h1 className={styles.title}>{title}</h1>
      <p className={styles.lead}>{children}</p>
    </div>
  )
}

/** A hedgerow on the horizon of narrow screens; decoration only. */
function HedgeLine() {
  return (
    <svg className={styles.hedge} viewBox="0 0 1200 90" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path
        d="M0 90V62c24-22 52-20 74-4 18-34 70-38 94-6 22-20 56-16 70 6 26-30 76-26 92 4 20-16 48-14 62 2 26-40
        92-40 112-2 20-18 50-16 66 4 24-34 78-32 96 0 22-16 46-12 60 4 24-32 74-34 98-4 20-20 56-18 72 4 22-28 66-28
        86 0 18-14 42-12 56 2 22-30 68-32 90-4 18-16 48-18 72 4v22z"
      />
    </svg>
  )
}
