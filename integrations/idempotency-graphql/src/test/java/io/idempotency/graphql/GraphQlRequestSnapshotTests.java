package io.idempotency.graphql;

import java.net.URI;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import graphql.GraphQLContext;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.graphql.server.WebGraphQlRequest;
import org.springframework.graphql.server.WebSocketGraphQlRequest;
import org.springframework.graphql.server.WebSocketSessionInfo;
import org.springframework.http.HttpHeaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** What is read of a request, and of what carries a document and is none. */
class GraphQlRequestSnapshotTests {

	private static final URI ADDRESS = URI.create("http://localhost/graphql?tenant=a%20b&tenant=c&empty");

	private static final Principal ALICE = () -> "alice";

	private final IdempotentOperation operation = operation();

	private final HttpHeaders headers = new HttpHeaders();

	private static IdempotentOperation operation() {
		IdempotentOperation operation = mock();
		given(operation.name()).willReturn("pay");
		given(operation.describe()).willReturn("Shop#pay");
		return operation;
	}

	@Test
	void aRequestHasItsHeadersItsParametersAndItsCaller() {
		this.headers.add("Idempotency-Key", "1");
		this.headers.add("Idempotency-Key", "2");
		GraphQlRequestSnapshot received = read(http(), request(ALICE), () -> Caller.principal("alice"));
		assertThat(received.headers("idempotency-key")).containsExactly("1", "2");
		assertThat(received.headers("X-Other")).isEmpty();
		assertThat(received.param("tenant")).isEqualTo("a b");
		assertThat(received.param("empty")).isEmpty();
		assertThat(received.param("other")).isNull();
		assertThat(received.principal()).isSameAs(ALICE);
		assertThat(received.caller(this.operation)).isEqualTo(Caller.principal("alice"));
	}

	@Test
	void aCallerThatIsRejectedIsRejectedWhereOneIsNeeded() {
		GraphQlRequestSnapshot received = read(http(), request(null), () -> {
			throw new IdempotencyCallerUnknownException("GraphQL");
		});
		assertThatExceptionOfType(IdempotencyCallerUnknownException.class)
			.isThrownBy(() -> received.caller(this.operation))
			.satisfies((rejection) -> assertThat(rejection.operation()).isEqualTo("pay"));
	}

	@Test
	void aFaultOfTheCallersNameIsToldWhereItIsNeeded() {
		GraphQlRequestSnapshot received = read(http(), request(ALICE), () -> {
			throw new IllegalStateException("Give it a stable name");
		});
		assertThatIllegalStateException().isThrownBy(() -> received.caller(this.operation))
			.withMessage("Give it a stable name");
	}

	@Test
	void aDocumentThatWasHandedOnByAnotherThreadHasNoCaller() {
		GraphQlRequestSnapshot received = read(http(), RequestValues.NONE, () -> Caller.GLOBAL);
		assertThatIllegalStateException().isThrownBy(() -> received.caller(this.operation))
			.withMessageContaining("Shop#pay")
			.withMessageContaining("Set scope to the caller");
	}

	@Test
	void aMessageOfAWebSocketHasThePrincipalAndNoHeaders() {
		this.headers.add("Idempotency-Key", "of the handshake");
		WebSocketSessionInfo session = mock();
		given(session.getPrincipal()).willReturn(Mono.just(ALICE));
		GraphQlRequestSnapshot received = read(new WebSocketGraphQlRequest(ADDRESS, this.headers, null, null, Map.of(),
				Map.of("query", "{a}"), "1", null, session), RequestValues.NONE, () -> Caller.GLOBAL);
		assertThat(received.headers("Idempotency-Key")).isEmpty();
		assertThat(received.principal()).isSameAs(ALICE);
		assertThatIllegalStateException().isThrownBy(() -> received.caller(this.operation))
			.withMessageContaining("WebSocket");
	}

	@Test
	void aMessageOfAnAnonymousWebSocketHasNoPrincipal() {
		WebSocketSessionInfo session = mock();
		given(session.getPrincipal()).willReturn(Mono.empty());
		GraphQlRequestSnapshot received = read(new WebSocketGraphQlRequest(ADDRESS, this.headers, null, null, Map.of(),
				Map.of("query", "{a}"), "1", null, session), RequestValues.NONE, () -> Caller.GLOBAL);
		assertThat(received.principal()).isNull();
	}

	private WebGraphQlRequest http() {
		return new WebGraphQlRequest(ADDRESS, this.headers, null, null, Map.of(),
				Map.<String, Object>of("query", "{a}"), "1", null);
	}

	private static RequestValues request(@Nullable Principal principal) {
		RequestValues values = mock();
		given(values.principal()).willReturn(principal);
		return values;
	}

	private static GraphQlRequestSnapshot read(WebGraphQlRequest request, RequestValues values,
			Supplier<Caller> caller) {
		GraphQlRequestSnapshot.reader(() -> values, caller).intercept(request, (passed) -> Mono.empty()).block();
		GraphQLContext context = request.toExecutionInput().getGraphQLContext();
		return Objects.requireNonNull(context.get(GraphQlRequestSnapshot.class));
	}

}
