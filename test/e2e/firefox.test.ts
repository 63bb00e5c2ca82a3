import { FIREFOX, startFirefox } from '../harness/other-browsers/firefox.ts'
import { testIn } from '../harness/other-browsers/suite.ts'

testIn('Firefox', [`command ${FIREFOX}`], startFirefox)
