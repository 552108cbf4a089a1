package io.idempotency.it.http;

import io.idempotency.it.OnJetty;

@OnJetty
class KeptAnswersOnJettyTests extends KeptAnswersOnTomcatTests {

}
