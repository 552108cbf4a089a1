package io.idempotency.it.webflux;

import java.util.UUID;

import io.idempotency.IdempotencyRecord.State;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients that hang up while a {@link HeldForm} has not answered, whether their work goes
 * on without them or is cancelled.
 */
interface HangUpScenarios {

	/** Whose work goes on. */
	ConfigurableApplicationContext continuing();

	/** Whose work is cancelled. */
	ConfigurableApplicationContext cancelling();

	@ParameterizedTest
	@EnumSource
	default void workThatGoesOn(HeldForm.Moment moment) throws Exception {
		hangUp(continuing(), moment);
	}

	@ParameterizedTest
	@EnumSource
	default void workThatIsCancelled(HeldForm.Moment moment) throws Exception {
		hangUp(cancelling(), moment);
	}

	private static void hangUp(ConfigurableApplicationContext application, HeldForm.Moment moment) throws Exception {
		int port = application.getEnvironment().getRequiredProperty("local.server.port", int.class);
		String key = UUID.randomUUID().toString();
		HeldForm.Hold hold = HeldForm.hold(moment, key);
		try (RawClient client = new RawClient(port)) {
			client.send("/rendered", key, "", 0, "");
			hold.reached.await();
		}
		await().until(() -> OrdersController.runs("gone " + key) == 1);
		boolean written = moment == HeldForm.Moment.COMPLETED;
		assertThat(hold.state()).isEqualTo(written ? State.DONE : State.RUNNING);
		hold.end();
		// A claim that was left to its lease would be there, and abandoned.
		boolean ran = moment != HeldForm.Moment.CLAIMED;
		await().untilAsserted(() -> assertThat(hold.state()).isEqualTo(ran ? State.DONE : null));
		assertThat(OrdersController.runs("rendered " + key)).isEqualTo(ran ? 1 : 0);
		Answer repeated = new Client(port).post("/rendered", key, "application/json", "");
		assertThat(repeated.text()).isEqualTo("{\"run\":1}");
		assertThat(repeated.replayed()).isEqualTo(ran);
	}

}
