package io.idempotency.it.http;

import io.idempotency.it.OnJetty;
import io.idempotency.it.scenarios.EncryptedAnswersScenarios;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.RedisServer;
import org.junit.jupiter.api.Nested;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

/**
 * The scenarios whose answer depends on the server, on Jetty.
 */
@Nightly
class OnJettyTests {

	@Nested
	@OnJetty
	class BrokenRequests extends BrokenRequestsOnTomcatTests {

		@Override
		boolean closesConnectionsOfBrokenForms() {
			return false;
		}

	}

	@Nested
	@OnJetty
	class Callers extends CallersOnTomcatTests {

	}

	@Nested
	@OnJetty
	class Dispatches extends DispatchesOnTomcatTests {

	}

	@Nested
	@OnJetty
	class EarlyAnswers extends EarlyAnswersOnTomcatTests {

	}

	@Nested
	@OnJetty
	@OnRedis
	@TestPropertySource(properties = EncryptedAnswersScenarios.PROPERTIES)
	class EncryptedAnswers extends KeptAnswersOnTomcatTests implements EncryptedAnswersScenarios.InRedis {

		@Autowired
		private RedisServer server;

		@Override
		public RedisServer server() {
			return this.server;
		}

	}

	@Nested
	@OnJetty
	class KeptAnswers extends KeptAnswersOnTomcatTests {

	}

	@Nested
	@OnJetty
	class Routes extends RoutesOnTomcatTests {

	}

	@Nested
	@OnJetty
	class Twins extends TwinsOnTomcatTests {

	}

	@Nested
	@OnJetty
	class Unguarded extends UnguardedOnTomcatTests {

	}

}
