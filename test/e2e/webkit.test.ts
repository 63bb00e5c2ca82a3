import { testIn } from '../harness/other-browsers/suite.ts'
import { startWebKit } from '../harness/other-browsers/webkit.ts'

testIn('WebKit', ['command WebKitWebDriver', 'command Xvfb'], startWebKit)
