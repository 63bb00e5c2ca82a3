import styles from './wordmark.module.css'

/** The product's mark and name. */
export function Wordmark() {
  return (
    <span className={styles.wordmark}>
      <HedgeMark />
      Hedgerow
    </span>
  )
}

/** Three bushes on a line; decoration beside a name. */
export function HedgeMark() {
  return (
    <svg width="26" height="18" viewBox="0 0 26 18" aria-hidden="true">
      <path
        d="M2 13.500c0-3.400 2-5.400 4.600-5.400C6.600 4.500 9.200 2 13 2s6.400 2.500 6.400 6.100c2.600 0 4.600 2
          4.600 5.400z"
        fill="#6fd2ba"
      />
      <path d="M2 16.700h22" stroke="#f2b544" strokeWidth="1.600" strokeLinecap="round" />
    </svg>
  )
}
