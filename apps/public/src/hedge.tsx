import styles from './closing.module.css'

/** A hedgerow on the horizon, as on the sign-in page, in the colour of the ground below it. */
export function Hedge() {
  return (
    <svg className={styles.hedge} viewBox="0 0 1440 110" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path
        d="M0 110V76c28-26 60-24 88-4 20-40 82-44 112-6 26-24 66-18 84 8 30-36 90-32 110 4 24-18 58-16 74 2 30-46
        110-44 134-2 22-22 60-18 80 4 28-40 94-38 116 0 26-20 56-14 72 4 28-38 88-40 118-4 24-24 66-22 86 4 26-32
        80-32 104 0 22-16 50-14 66 2 26-36 82-38 108-4 22-20 58-22 88 4v22z"
      />
    </svg>
  )
}
