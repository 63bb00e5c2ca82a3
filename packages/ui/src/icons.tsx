/** The portal's icons: 16 px, one stroke, always beside a word or on a button with an accessible name. */
import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.500" />
    <path d="m10.500 10.500 3.500 3.500" />
  </Icon>
)

export const RefreshIcon = () => (
  <Icon>
    <path d="M13.500 8a5.500 5.500 0 1 1-1.700-4" />
    <path d="M13.500 1.800V4.800h-3" />
  </Icon>
)

export const PlusIcon = () => (
  <Icon>
    <path d="M8 3v10M3 8h10" />
  </Icon>
)

export const RowsIcon = () => (
  <Icon>
    <path d="M2.500 4h11M2.500 8h11M2.500 12h11" />
  </Icon>
)

export const CardsIcon = () => (
  <Icon>
    <rect x="2.500" y="2.500" width="4.500" height="4.500" rx="1" />
    <rect x="9" y="2.500" width="4.500" height="4.500" rx="1" />
    <rect x="2.500" y="9" width="4.500" height="4.500" rx="1" />
    <rect x="9" y="9" width="4.500" height="4.500" rx="1" />
  </Icon>
)

export const KeyIcon = () => (
  <Icon>
    <circle cx="5.200" cy="10.800" r="2.700" />
    <path d="m7.200 8.800 6-6M10.500 5.500l2 2" />
  </Icon>
)

export const MoreIcon = () => (
  <Icon>
    <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" strokeWidth="2.200" />
  </Icon>
)

export const ChevronIcon = () => (
  <Icon>
    <path d="m4 6 4 4 4-4" />
  </Icon>
)

export const CopyIcon = () => (
  <Icon>
    <rect x="5.500" y="5.500" width="8" height="8" rx="1.500" />
    <path
      d="M10.500 3.500v-.300c0-.700-.500-1.200-1.200-1.200H3.700c-.700 0-1.200.500-1.200 1.200v5.600c0 .700.500
      1.200 1.200 1.200h.300"
    />
  </Icon>
)

export const DownloadIcon = () => (
  <Icon>
    <path d="M8 2.500v7.500m0 0 3-3m-3 3-3-3M3 13.500h10" />
  </Icon>
)

export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.500 3.300 3.300L13 4.700" />
  </Icon>
)

export const AlertIcon = () => (
  <Icon>
    <path d="M8 2.200 14.300 13H1.700zM8 6.500v3M8 11.400h.01" />
  </Icon>
)

export const InfoIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6.300" />
    <path d="M8 7.300v3.700M8 5h.01" />
  </Icon>
)

export const LockIcon = () => (
  <Icon>
    <rect x="3" y="7" width="10" height="6.500" rx="1.500" />
    <path d="M5.200 7V5a2.800 2.800 0 0 1 5.600 0v2" />
  </Icon>
)

export const ArrowIcon = () => (
  <Icon>
    <path d="M3 8h10m0 0L9.500 4.500M13 8l-3.500 3.500" />
  </Icon>
)

export const CrossIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
)

export const CameraIcon = () => (
  <Icon>
    <path d="M2.500 5.500h2.300l1-1.700h4.400l1 1.700h2.300v7h-11z" />
    <circle cx="8" cy="8.800" r="2.200" />
  </Icon>
)

export const MailIcon = () => (
  <Icon>
    <rect x="2" y="3.500" width="12" height="9" rx="1.500" />
    <path d="m2.500 4.500 5.500 4.500 5.500-4.500" />
  </Icon>
)

export const PersonIcon = () => (
  <Icon>
    <circle cx="8" cy="5.500" r="2.500" />
    <path d="M3 13.500c.6-2.700 2.500-4 5-4s4.400 1.300 5 4" />
  </Icon>
)

export const PeopleIcon = () => (
  <Icon>
    <circle cx="6" cy="5.500" r="2.300" />
    <path
      d="M1.500 13c.5-2.500 2.200-3.800 4.500-3.800s4 1.300 4.500 3.800M10.500 3.300a2.300 2.300 0 0 1 0 4.400M12
      9.700c1.400.6 2.300 1.700 2.600 3.300"
    />
  </Icon>
)

export const ShieldIcon = () => (
  <Icon>
    <path d="M8 1.800 13 3.600v4c0 3-2 5.300-5 6.600-3-1.300-5-3.600-5-6.600v-4z" />
    <path d="m5.800 7.900 1.600 1.600 2.900-3.100" />
  </Icon>
)

export const BellIcon = () => (
  <Icon>
    <path
      d="M3.500 11.500c1-1 1.200-2.300 1.200-4.300a3.300 3.300 0 0 1 6.600 0c0 2 .2 3.300 1.200 4.300zM6.700
      13.500a1.400 1.400 0 0 0 2.600 0"
    />
  </Icon>
)
