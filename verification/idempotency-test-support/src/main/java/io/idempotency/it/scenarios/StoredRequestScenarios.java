package io.idempotency.it.scenarios;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store is asked for on behalf of a request, to the last bit: the same on all
 * stacks and in all versions. With another key a retry of an older call runs again, with
 * another fingerprint it is rejected. A changed fingerprint needs another algorithm name
 * and an entry in the changelog.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class StoredRequestScenarios {

	private ConfigurableApplicationContext application;

	/** Starts the application with these handlers, too. */
	protected abstract ConfigurableApplicationContext start(Class<?> handlers, String... properties);

	/** Returns the handlers, which differ where a stack needs another return type. */
	protected Class<?> handlers() {
		return Orders.class;
	}

	/** Returns the store of the handlers. */
	public static IdempotencyStore recordingStore() {
		return Orders.STORE;
	}

	@BeforeAll
	void start() {
		this.application = start(handlers(), "server.port=0", "idempotency.namespace=shop",
				"idempotency.http.scope-headers=X-Tenant", "idempotency.http.fingerprint-headers=X-Currency",
				"idempotency.http.ignored-parameters=trace");
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@BeforeEach
	void forget() {
		Orders.STORE.claims.clear();
	}

	@ParameterizedTest
	@CsvSource({ "/stored/handler, , b870cfa54d43cf48cfe15df27cb6bc740b7c4e1d0115fd11fa2af864a60dbc05",
			"/stored/handler, alice, 4ab966f21fd24b430fb4658c14be3d1c131e700a56f3e14590d88e11ed2c4fd4",
			"/stored/scope, alice, d29cb2114608a268b8e9ff18370e171fe6211e7cdee7be935a3f09a52fe5d210",
			"/stored/list, alice, 4ab966f21fd24b430fb4658c26a0099a4f696ce105b7e0b9ad490bc1ced48e8b" })
	void keyNeverChanges(String path, String user, String hash) {
		send(path, "k-1", "application/json", "{\"order\": \"7\"}", user);
		assertThat(Orders.STORE.claims).singleElement().extracting((claim) -> claim.key().hashHex()).isEqualTo(hash);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"/stored/handler | application/json | {\"b\": 1.0, \"a\": [\"é\", null]} | be823d927ca5a3d0603e7a4c4a649df3ec3cd8201eef7bce6b70fa40b3a07143",
			"/stored/handler?b=%C3%A9&a=2&a=1&trace=7 | application/json | {} | ef3ce5395a0a497c3d07d9c37dff41557345a93acb19ae2749c1ff59f6ca9e86",
			"/stored/handler | application/x-www-form-urlencoded | b=+&a=2&a=1&trace=7 | 95d7fb2cc62ec027e11a06a0a1f9edd1cf650e5ef773b65aafe59333a511ce31",
			"/stored/handler | text/plain | plain | 3fb86a5014db01f8280cd980e55c9a276a5efe4376ec762277e85790d281360d",
			"/stored/handler | multipart/form-data;boundary=x | --x~Content-Disposition: form-data; name=\"a\"~~1~--x--~ | b3ee442a1027a5bad6e66760d055073528936cef9c1e093d33359cd1e9fac7fa",
			"/stored/expression | application/json | {\"b\": 1.0, \"a\": [\"é\", null]} | bde34fd652361f039ff2b2f06a76a77ba21b1eba8c4d44331c706f236dca5b61" })
	void fingerprintNeverChanges(String path, String contentType, String body, String fingerprint) {
		send(path, UUID.randomUUID().toString(), contentType, body.replace("~", "\r\n"), null);
		assertThat(Orders.STORE.claims).singleElement()
			.extracting((claim) -> HexFormat.of().formatHex(claim.fingerprint().toBytes()))
			.isEqualTo(fingerprint);
	}

	private void send(String path, String key, String contentType, String body, String user) {
		Client client = new Client(
				Integer.parseInt(this.application.getEnvironment().getRequiredProperty("local.server.port")));
		Answer answer = client.post(path, key, contentType, body, (request) -> {
			request.header("X-Tenant", "a").header("X-Currency", "EUR").header("If-Match", "\"1\"");
			if (user != null) {
				Client.as(user).accept(request);
			}
		});
		assertThat(answer.status()).as("%s", answer).isEqualTo(200);
	}

	/** Handlers for all stacks, and the store. */
	@RestController
	static class Orders {

		static final RecordingStore STORE = new RecordingStore();

		@Bean(destroyMethod = "")
		static IdempotencyStore store() {
			return STORE;
		}

		@PostMapping("/stored/handler")
		@Idempotent(operation = "order.place")
		public String handler() {
			return "placed";
		}

		@PostMapping("/stored/scope")
		@Idempotent(operation = "order.place", scope = "'all'")
		public String scope() {
			return "placed";
		}

		@PostMapping("/stored/list")
		@Idempotent(operation = "order.place", key = "{#order['order'], 7L}")
		public String list(@RequestBody Map<String, String> order) {
			return "placed";
		}

		@PostMapping("/stored/expression")
		@Idempotent(operation = "order.place", fingerprint = "#order")
		public String expression(@RequestBody Map<String, Object> order) {
			return "placed";
		}

	}

	private static final class RecordingStore extends ForwardingIdempotencyStore {

		private final List<ClaimRequest> claims = new CopyOnWriteArrayList<>();

		RecordingStore() {
			super(new MemoryIdempotencyStore(10_000_000));
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			this.claims.add(request);
			return super.claim(request);
		}

	}

}
