package io.idempotency.it.http;

import io.idempotency.it.OnJetty;
import org.junit.jupiter.api.Nested;

/**
 * The scenarios whose answer depends on the server, on Jetty.
 */
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
