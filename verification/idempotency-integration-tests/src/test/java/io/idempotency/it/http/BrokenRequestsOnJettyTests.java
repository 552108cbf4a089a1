package io.idempotency.it.http;

import io.idempotency.it.OnJetty;

@OnJetty
class BrokenRequestsOnJettyTests extends BrokenRequestsOnTomcatTests {

	@Override
	boolean closesConnectionsOfBrokenForms() {
		return false;
	}

}
