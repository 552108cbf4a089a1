package io.idempotency.it.http;

import io.idempotency.it.scenarios.Scenario;
import java.util.UUID;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The cap is 65536 bytes here. */
class TwinsOnTomcatTests extends OnTomcat {

	@ParameterizedTest
	@MethodSource("answers")
	void guardedHandlerAnswersAsItsTwin(TwinsController.Kind kind, int size) {
		String key = UUID.randomUUID().toString();
		Answer expected = this.client.post("/twins/unguarded/" + kind + "/" + size, key);
		Answer answer = this.client.post("/twins/guarded/" + kind + "/" + size, key);
		assertThat(answer.status()).isEqualTo(expected.status()).isEqualTo(200);
		assertThat(answer.body()).isEqualTo(expected.body());
		assertThat(answer.header("Content-Type")).isEqualTo(expected.header("Content-Type"));
		// The client may have seen the end before the record is there.
		await().untilAsserted(() -> Scenario.assertCode(this.client.post("/twins/guarded/" + kind + "/" + size, key),
				409, "result-unavailable"));
	}

	static Stream<Arguments> answers() {
		return Stream.of(TwinsController.Kind.values())
			.flatMap((kind) -> Stream.of(1, 65_532, 65_536, 65_537, 2_000_000).map((size) -> Arguments.of(kind, size)));
	}

}
