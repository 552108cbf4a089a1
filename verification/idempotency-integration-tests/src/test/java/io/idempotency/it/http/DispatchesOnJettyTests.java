package io.idempotency.it.http;

import io.idempotency.it.OnJetty;

@OnJetty
class DispatchesOnJettyTests extends DispatchesOnTomcatTests {

}
