package io.idempotency.web;

import java.util.List;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.http.HttpSettings;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * The key that is made before the guard is asked. The rest of an exchange is in
 * {@link WebMvcAdapterTests}.
 */
class ExchangeTests {

	private static final Caller ALICE = Caller.principal("alice");

	private final IdempotentOperation operation = mock(IdempotentOperation.class);

	private final Exchange exchange = Exchange.begin(new MockHttpServletRequest(), HttpSettings.DEFAULTS);

	@Test
	void noKeyIsMadeAtFirst() {
		assertThat(this.exchange.key(this.operation, ALICE, List.of("1"))).isNull();
	}

	@Test
	void keyIsGivenToTheGuardOfItsOperationOnly() {
		IdempotencyKey key = IdempotencyKey.of("pay", ALICE, "1");
		this.exchange.made(this.operation, key);
		assertThat(this.exchange.key(this.operation, ALICE, List.of("1"))).isSameAs(key);
		assertThat(this.exchange.key(mock(IdempotentOperation.class), ALICE, List.of("1"))).isNull();
	}

	@Test
	void keyOfAnotherCallerIsMadeAnew() {
		this.exchange.made(this.operation, IdempotencyKey.of("pay", ALICE, "1"));
		assertThat(this.exchange.key(this.operation, Caller.principal("bob"), List.of("1"))).isNull();
		assertThat(this.exchange.key(this.operation, Caller.scope("alice"), List.of("1"))).isNull();
	}

	@Test
	void keyOfOtherPartsIsMadeAnew() {
		this.exchange.made(this.operation, IdempotencyKey.of("pay", ALICE, "1,2"));
		assertThat(this.exchange.key(this.operation, ALICE, List.of("1"))).isNull();
		assertThat(this.exchange.key(this.operation, ALICE, List.of("1", "2"))).isNull();
		assertThat(this.exchange.key(this.operation, ALICE, List.of())).isNull();
	}

}
