package io.idempotency.it.http;

import io.idempotency.it.scenarios.RetentionOnErrorScenarios;
import io.idempotency.test.MutableClock;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

@Import(RetentionOnErrorScenarios.TimedStore.class)
@TestPropertySource(properties = "idempotency.http.retention-on-error=1h")
class RetentionOnErrorOnTomcatTests extends OnTomcat implements RetentionOnErrorScenarios {

	@Autowired
	MutableClock clock;

	@Override
	public MutableClock clock() {
		return this.clock;
	}

}
