package io.idempotency.it.http;

import io.idempotency.it.OnJetty;

@OnJetty
class CallersOnJettyTests extends CallersOnTomcatTests {

}
