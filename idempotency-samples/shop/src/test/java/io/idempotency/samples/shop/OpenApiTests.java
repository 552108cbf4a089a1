package io.idempotency.samples.shop;

import java.util.List;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/** What the document of the shop says about its guarded calls. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class OpenApiTests {

	private static final String ORDERS = "$.paths['/api/orders']";

	@LocalServerPort
	private int port;

	private ShopClient shop;

	private Answer document;

	@BeforeEach
	void readTheDocument() {
		this.shop = new ShopClient(this.port);
		this.document = this.shop.get("/v3/api-docs");
		assertThat(this.document.status()).isEqualTo(200);
	}

	@Test
	void keyIsAHeader() {
		String key = ORDERS + ".post.parameters[?(@.name == 'Idempotency-Key')]";
		assertThat(list(key + ".in")).containsExactly("header");
		assertThat(list(key + ".required")).containsExactly(true);
		assertThat(list(key + ".schema.type")).containsExactly("string");
		assertThat(list(key + ".schema.maxLength")).containsExactly(255);
	}

	@ParameterizedTest
	@ValueSource(strings = { "400", "409", "413", "422", "503" })
	void rejectionsShareOneSchema(String status) {
		assertThat(ShopClient.<String>read(this.document,
				ORDERS + ".post.responses['" + status + "'].content['application/problem+json'].schema.$ref"))
			.isEqualTo("#/components/schemas/IdempotencyProblem");
	}

	@Test
	void problemHasACode() {
		String problem = "$.components.schemas.IdempotencyProblem";
		assertThat(ShopClient.<String>read(this.document, problem + ".type")).isEqualTo("object");
		assertThat(list(problem + ".required")).contains("type", "title", "status", "detail", "code");
		assertThat(list(problem + ".properties.code.enum")).contains("key-missing", "in-progress", "store-unavailable");
		assertThat(ShopClient.<String>read(this.document, problem + ".properties.status.type")).isEqualTo("integer");
	}

	@Test
	void answersMayBeReplays() {
		String header = ".headers['Idempotent-Replayed'].$ref";
		assertThat(list(ORDERS + ".post.responses[*]" + header)).isNotEmpty()
			.containsOnly("#/components/headers/IdempotentReplayed");
		assertThat(list("$.components.headers.IdempotentReplayed.schema.enum")).containsExactly("true");
		assertThat(list("$.paths['/api/recipes/page-id'].post.responses[*]" + header)).isEmpty();
	}

	@Test
	void keyInTheBodyIsDescribed() {
		assertThat(ShopClient.<String>read(this.document, "$.paths['/api/recipes/token'].post.description"))
			.contains("`/requestId`", "`POST /idempotency/tokens`");
	}

	@Test
	void tokensAreDocumented() {
		assertThat(list("$.paths['/idempotency/tokens'].post.responses['201'].content['application/json'].schema"
				+ ".required"))
			.containsExactlyInAnyOrder("token", "expiresAt");
	}

	@Test
	void otherCallsAreLeftAlone() {
		assertThat(ShopClient.<Object>read(this.document, ORDERS + ".get").toString()).doesNotContain("dempoten");
		assertThat(this.document.text()).doesNotContain("#request", "io.idempotency");
	}

	@Test
	void pageToTryTheCallsIsServed() {
		Answer page = this.shop.get("/swagger-ui/index.html");
		assertThat(page.status()).isEqualTo(200);
		assertThat(page.text()).contains("swagger-ui-bundle.js");
	}

	private List<Object> list(String path) {
		return ShopClient.read(this.document, path);
	}

}
