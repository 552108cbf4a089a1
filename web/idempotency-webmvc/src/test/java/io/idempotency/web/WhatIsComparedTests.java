package io.idempotency.web;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.idempotency.Idempotent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockMultipartFile;
import org.springframework.mock.web.MockPart;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.DefaultCsrfToken;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.RequestBuilder;
import org.springframework.test.web.servlet.request.AbstractMockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class WhatIsComparedTests {

	private WebApplicationContext context;

	private MockMvc client;

	@BeforeEach
	void start() {
		this.context = WebMvcAdapterSetup.start(TokenPayments.class, Payments.class);
		this.client = WebMvcAdapterSetup.client(this.context);
	}

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@ParameterizedTest
	@ValueSource(strings = { RequestDispatcher.FORWARD_REQUEST_URI, RequestDispatcher.FORWARD_QUERY_STRING,
			AsyncContext.ASYNC_REQUEST_URI, AsyncContext.ASYNC_QUERY_STRING, RequestDispatcher.INCLUDE_QUERY_STRING,
			RequestDispatcher.ERROR_REQUEST_URI })
	void whatTheClientAskedForTakesPartAfterADispatch(String attribute) throws Exception {
		assertThat(send(pay().requestAttr(attribute, "/v/7")).getStatus()).isEqualTo(200);
		assertReplayed(send(pay().requestAttr(attribute, "/v/7")));
		assertReused(send(pay().requestAttr(attribute, "/v/8")));
		assertReused(send(pay()));
	}

	@Test
	void methodTakesPart() throws Exception {
		assertThat(send(either("POST")).getStatus()).isEqualTo(200);
		assertReplayed(send(either("POST")));
		assertReused(send(either("PUT")));
	}

	private static RequestBuilder either(String method) {
		return MockMvcRequestBuilders.request(method, URI.create("/either")).header("Idempotency-Key", "k1");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "If-Match | \"a\" | \"b\"", "If-None-Match | \"a\" | \"b\"", "If-Range | \"a\" | \"b\"",
					"If-Modified-Since | Sat, 01 Jan 2026 00:00:00 GMT | Sun, 02 Jan 2026 00:00:00 GMT",
					"If-Unmodified-Since | Sat, 01 Jan 2026 00:00:00 GMT | Sun, 02 Jan 2026 00:00:00 GMT" })
	void partOfAnAnswerIsNotTheAnswer(String header, String value, String other) throws Exception {
		assertThat(send(pay().header(header, value)).getStatus()).isEqualTo(200);
		assertReplayed(send(pay().header(header, value)));
		assertReused(send(pay().header(header, other)));
		assertReused(send(pay().header(header, value, value)));
		assertReused(send(pay()));
	}

	/** Two bodies that nobody sees any more would be equal. */
	@ParameterizedTest
	@CsvSource({ "application/json, {}", "text/plain, {}", "application/x-www-form-urlencoded, &" })
	void bodyThatAFilterHasUsedUpIsNotTakenForAnEmptyOne(String type, String body) {
		MockMvc reading = MockMvcBuilders.webAppContextSetup(this.context).addFilters((request, response, chain) -> {
			request.getInputStream().readAllBytes();
			chain.doFilter(request, response);
		}, this.context.getBean(IdempotencyFilter.class)).build();
		assertThatExceptionOfType(ServletException.class)
			.isThrownBy(() -> reading.perform(pay().contentType(type).content(body)))
			.withStackTraceContaining("use the body of the request, which was read before");
	}

	@Test
	void formInACharsetThatNobodyKnowsIsTheClientsFault() throws Exception {
		RequestBuilder form = pay().contentType("application/x-www-form-urlencoded").with((request) -> {
			request.setCharacterEncoding("nobody-knows");
			return request;
		}).content("sku=1");
		assertThat(send(form).getStatus()).isEqualTo(400);
		assertThat(send(pay()).getStatus()).isEqualTo(200);
	}

	/** Else the values of one header could be taken for the next header. */
	@Test
	void numberOfValuesOfAHeaderTakesPart() throws Exception {
		send(pay().header("If-Match", "a").header("If-Range", "b"));
		assertReused(send(pay().header("If-Match", "a", "header", "if-range", "b")));
	}

	/** So a client resumes an answer that broke off. */
	@Test
	void wholeAnswerIsGivenWhateverPartIsAskedFor() throws Exception {
		assertThat(send(pay()).getStatus()).isEqualTo(200);
		assertReplayed(send(pay().header("Range", "bytes=2-")));
		assertReplayed(send(pay().header("Range", "bytes=0-1")));
	}

	@Test
	void answerToARangeThatIsTheWholeIsGivenToAll() throws Exception {
		assertThat(send(pay().header("Range", "bytes=0-1")).getStatus()).isEqualTo(200);
		assertReplayed(send(pay()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "206", "416", "200" })
	void partOfAnAnswerIsGivenToItsRangeOnly(String status) throws Exception {
		String path = "/part?status=" + status;
		MockHttpServletResponse first = send(form(path, "").header("Range", "bytes=0-1"));
		assertThat(first.getStatus()).isEqualTo(Integer.parseInt(status));
		MockHttpServletResponse second = send(form(path, "").header("Range", "bytes=0-1"));
		assertReplayed(second);
		assertThat(second.getHeaderNames()).contains("Content-Range").doesNotContain("Range");
		assertReused(send(form(path, "").header("Range", "bytes=2-3")));
		assertReused(send(form(path, "").header("Range", "bytes=0-1", "bytes=2-3")));
		assertReused(send(form(path, "")));
	}

	@Test
	void byteOrderMarkBeforeJsonDoesNotCount() throws Exception {
		assertThat(send(body("\uFEFF{\"a\":1,\"b\":2}", "application/json;charset=UTF-8")).getStatus()).isEqualTo(200);
		assertReplayed(send(body("{\"b\":2,\"a\":1}", "application/json;charset=UTF-8")));
		assertThat(send(MockMvcRequestBuilders.post("/pointed")
			.contentType(MediaType.APPLICATION_JSON)
			.content("\uFEFF{\"token\":\"k1\"}")).getStatus()).isEqualTo(200);
		assertReplayed(send(MockMvcRequestBuilders.post("/pointed")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"token\":\"k1\"}")));
	}

	@Test
	void headersThatMeanNothingToTheResultDoNotCount() throws Exception {
		send(pay().header("User-Agent", "a").header("X-Currency", "EUR"));
		assertReplayed(send(pay().header("User-Agent", "b").header("X-Currency", "USD")));
	}

	@Test
	void headersOfTheConfigurationTakePart() throws Exception {
		send(pay().header("x-compared", "EUR"));
		assertReplayed(send(pay().header("X-Compared", "EUR")));
		assertReused(send(pay().header("X-Compared", "USD")));
		assertReused(send(pay().header("X-Compared", "")));
		assertReused(send(pay()));
	}

	@Test
	void parametersOfTheConfigurationAreLeftOut() throws Exception {
		send(form("/pay?utm_source=mail", "a=1"));
		assertReplayed(send(form("/pay", "a=1&utm_source=web")));
		assertReused(send(form("/pay?utm_medium=mail", "a=1")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "_csrf", "xsrf" })
	void tokenThatIsMaskedAnewOnEachPageIsLeftOut(String parameter) throws Exception {
		send(csrf(form("/pay", "a=1&" + parameter + "=one"), parameter));
		assertReplayed(send(csrf(form("/pay", parameter + "=two&a=1"), parameter)));
		assertReplayed(send(csrf(form("/pay", "a=1"), parameter)));
		assertReused(send(csrf(form("/pay", "a=2&" + parameter + "=one"), parameter)));
	}

	@Test
	void tokenInTheQueryOfAnUploadIsLeftOut() throws Exception {
		MockPart field = new MockPart("a", "1".getBytes(StandardCharsets.UTF_8));
		MockPart token = new MockPart("_csrf", "two".getBytes(StandardCharsets.UTF_8));
		send(csrf(upload("/pay?_csrf=one", field), "_csrf"));
		assertReplayed(send(csrf(upload("/pay", field, token), "_csrf")));
		assertReused(send(csrf(upload("/pay", field, field), "_csrf")));
	}

	private static AbstractMockHttpServletRequestBuilder<?> upload(String path, MockPart... parts) {
		return MockMvcRequestBuilders.multipart(URI.create(path)).part(parts).header("Idempotency-Key", "k1");
	}

	@Test
	void parameterOfThatNameCountsWhereNothingGuardsAgainstForgedRequests() throws Exception {
		send(form("/pay", "a=1&_csrf=one"));
		assertReused(send(form("/pay", "a=1&_csrf=two")));
	}

	@Test
	void tokenIsNotMadeForAClientThatHasNone() throws Exception {
		CsrfToken untouchable = new CsrfToken() {

			@Override
			public String getHeaderName() {
				throw new AssertionError("a session would begin here");
			}

			@Override
			public String getParameterName() {
				throw new AssertionError("a session would begin here");
			}

			@Override
			public String getToken() {
				throw new AssertionError("a session would begin here");
			}

		};
		MockHttpServletResponse answer = send(form("/pay", "a=1").requestAttr(CsrfToken.class.getName(), untouchable)
			.requestAttr("_csrf", untouchable));
		assertThat(answer.getStatus()).isEqualTo(200);
	}

	@Test
	void fieldThatCarriesTheKeyIsLeftOut() throws Exception {
		MockHttpServletResponse first = send(formWithoutHeader("/keyed", "token=k1&a=1"));
		assertThat(first.getStatus()).isEqualTo(200);
		assertReplayed(send(formWithoutHeader("/keyed", "a=1&token=k1")));
		assertReplayed(send(formWithoutHeader("/keyed?token=k1", "a=1")));
		assertReused(send(formWithoutHeader("/keyed", "a=2&token=k1")));
	}

	@Test
	void parameterThatIsNamedAsThePointerToTheKeyIsNotTheKey() throws Exception {
		assertThat(send(pointed("/pointed?/token=1")).getStatus()).isEqualTo(200);
		assertReplayed(send(pointed("/pointed?/token=1")));
		assertReused(send(pointed("/pointed?/token=2")));
	}

	private static RequestBuilder pointed(String path) {
		return MockMvcRequestBuilders.post(URI.create(path))
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"token\":\"k1\"}");
	}

	@Test
	void fieldThatCarriesTheKeyOfAnUploadIsLeftOut() throws Exception {
		MockPart field = new MockPart("a", "1".getBytes(StandardCharsets.UTF_8));
		MockPart token = new MockPart("token", "k1".getBytes(StandardCharsets.UTF_8));
		send(MockMvcRequestBuilders.multipart(URI.create("/keyed?token=k1")).part(field));
		assertReplayed(send(MockMvcRequestBuilders.multipart(URI.create("/keyed")).part(token, field)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ISO-8859-1", "UTF-16", "\"iso-8859-1\"" })
	void jsonOfAnotherCharsetIsComparedByteByByte(String charset) throws Exception {
		String type = "application/json;charset=" + charset;
		send(body("{\"a\":1,\"b\":2}", type));
		assertReplayed(send(body("{\"a\":1,\"b\":2}", type)));
		assertReused(send(body("{\"b\":2,\"a\":1}", type)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "windows-1252", "UTF-16", "\"iso-8859-1\"" })
	void charsetOfTheContentTypeCountsWhateverIsForcedOnTheRequest(String charset) throws Exception {
		String type = "application/json;charset=" + charset;
		assertThat(send(forced(body("{\"a\":1}", type))).getStatus()).isEqualTo(200);
		assertReplayed(send(forced(body("{\"a\":1}", type))));
		assertReused(send(forced(body("{ \"a\":1}", type))));
	}

	@Test
	void keyIsReadInTheCharsetOfTheContentTypeWhateverIsForcedOnTheRequest() throws Exception {
		byte[] body = "{\"token\":\"k1\"}".getBytes(StandardCharsets.UTF_16);
		RequestBuilder request = forced(MockMvcRequestBuilders.post("/pointed")
			.header("Content-Type", "application/json;charset=UTF-16")
			.content(body));
		assertThat(send(request).getStatus()).isEqualTo(200);
	}

	/** As Boot's filter does, unless it is told otherwise. */
	private static RequestBuilder forced(MockHttpServletRequestBuilder request) {
		return request.with((mock) -> {
			mock.setCharacterEncoding("UTF-8");
			return mock;
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/json;charset=utf-8", "application/json; charset=\"UTF-8\"",
			"application/json;profile=x" })
	void jsonOfUtf8IsComparedByValue(String type) throws Exception {
		send(body("{\"a\":1,\"b\":2}", type));
		assertReplayed(send(body("{\"b\":2,\"a\":1}", type)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/plain", "application/octet-stream", "application/xml" })
	void bodyOfAnyOtherTypeIsComparedByteByByte(String type) throws Exception {
		assertThat(send(body("{\"a\":1}", type)).getStatus()).isEqualTo(200);
		assertReplayed(send(body("{\"a\":1}", type)));
		assertReused(send(body("{ \"a\":1}", type)));
		assertReused(send(body("", type)));
	}

	@Test
	void fieldWithoutAValueOfAFormOfUnknownLengthIsNoFailure() throws Exception {
		assertThat(send((servletContext) -> chunked("a", null)).getStatus()).isEqualTo(200);
		assertReplayed(send((servletContext) -> chunked("a", null)));
		assertReused(send((servletContext) -> chunked("a", "")));
	}

	/** As Spring's FormContentFilter makes it of a chunked PUT. */
	private static MockHttpServletRequest chunked(String name, @Nullable String value) {
		return readByTheContainer("PUT", "/changed", name, value);
	}

	private static MockHttpServletRequest readByTheContainer(String method, String path, String name,
			@Nullable String value) {
		MockHttpServletRequest request = new MockHttpServletRequest(method, path);
		request.addParameter(name, value);
		request.addHeader("Idempotency-Key", "k1");
		request.setContentType("application/x-www-form-urlencoded");
		return request;
	}

	/** Else the values of one field could be taken for the next field. */
	@Test
	void numberOfValuesOfAFieldTakesPart() throws Exception {
		send(form("/pay", "a=1&a=b&a=c&d=2"));
		assertReused(send(form("/pay", "a=1&b=c&b=d&b=2")));
		assertReplayed(send(form("/pay", "a=1&d=2&a=b&a=c")));
	}

	/** Else a field of the query could be taken for the form behind it. */
	@Test
	void numberOfFieldsTakesPart() throws Exception {
		send(form("/pay?a=x", "1=form&form=1"));
		assertReused(send(form("/pay?a=x&form=1", "")));
	}

	@Test
	void formIsTheSameWhoeverHasReadIt() throws Exception {
		send((servletContext) -> readByTheContainer("POST", "/fields", "a", "2"));
		assertReplayed(send((servletContext) -> unread("POST", "/fields", "a=2")));
		assertReused(send((servletContext) -> unread("POST", "/fields", "a=3")));
	}

	@Test
	void fileCountsThoughAFieldOfItsNameIsLeftOut() throws Exception {
		send(upload("/pay", new MockPart("utm_source", "a.txt", new byte[] { 1 })));
		assertReused(send(upload("/pay", new MockPart("utm_source", "a.txt", new byte[] { 2 }))));
		assertReplayed(send(upload("/pay", new MockPart("utm_source", "a.txt", new byte[] { 1 }),
				new MockPart("utm_source", new byte[] { 3 }))));
	}

	/** As a resolver does that is not the container's. */
	@Test
	void fieldsBesideFilesCount() throws Exception {
		MockMultipartFile file = new MockMultipartFile("file", new byte[] { 1 });
		send(upload("/pay", file).param("a", "1"));
		assertReplayed(send(upload("/pay", file).param("a", "1")));
		assertReused(send(upload("/pay", file).param("a", "2")));
		assertReused(send(upload("/pay", new MockMultipartFile("file", new byte[] { 2 })).param("a", "1")));
	}

	private static AbstractMockHttpServletRequestBuilder<?> upload(String path, MockMultipartFile file) {
		return MockMvcRequestBuilders.multipart(URI.create(path)).file(file).header("Idempotency-Key", "k1");
	}

	@Test
	void uploadThatNobodyTakesApartCountsWithItsBytes() throws Exception {
		String type = "multipart/form-data; boundary=b";
		send(body("--b one", type));
		assertReplayed(send(body("--b one", type)));
		assertReused(send(body("--b two", type)));
	}

	@Test
	void lengthOfAnUploadCountsWithItsBoundaries() throws Exception {
		MockPart field = new MockPart("a", "1".getBytes(StandardCharsets.UTF_8));
		for (int length : new int[] { 2000, 2001 }) {
			MockHttpServletResponse answer = send(upload("/pay", field).with((request) -> {
				request.setContent(new byte[length]);
				return request;
			}));
			assertThat(answer.getStatus()).isEqualTo((length > 2000) ? 413 : 200);
		}
	}

	@Test
	void formOfUnknownLengthIsBoundedByWhatTheContainerHasReadOfIt() throws Exception {
		assertThat(send((servletContext) -> {
			MockHttpServletRequest two = chunked("a", "x".repeat(1500));
			two.addParameter("b", "x".repeat(500));
			return two;
		}).getStatus()).isEqualTo(413);
		assertThat(send((servletContext) -> chunked("a", "x".repeat(2000))).getStatus()).isEqualTo(413);
		assertThat(send((servletContext) -> chunked("a".repeat(2000), "x")).getStatus()).isEqualTo(413);
		assertThat(send((servletContext) -> chunked("a".repeat(2001), null)).getStatus()).isEqualTo(413);
		assertThat(send((servletContext) -> chunked("a", "x".repeat(1999))).getStatus()).isEqualTo(200);
	}

	@Test
	void queryIsNoPartOfTheSizeOfAFormWhoseLengthIsKnown() throws Exception {
		assertThat(send(form("/pay?a=" + "x".repeat(2001), "")).getStatus()).isEqualTo(200);
	}

	/** A container makes parameters of a form that is posted, and of no other. */
	@Test
	void formThatIsPutCountsWithItsBytes() throws Exception {
		assertThat(send((servletContext) -> unread("PUT", "/changed", "a=1")).getStatus()).isEqualTo(200);
		assertReplayed(send((servletContext) -> unread("PUT", "/changed", "a=1")));
		assertReused(send((servletContext) -> unread("PUT", "/changed", "a=2")));
		assertReused(send((servletContext) -> unread("PUT", "/changed", "")));
	}

	private static MockHttpServletRequest unread(String method, String path, String form) {
		MockHttpServletRequest request = new MockHttpServletRequest(method, path);
		request.addHeader("Idempotency-Key", "k1");
		request.setContentType("application/x-www-form-urlencoded");
		request.setContent(form.getBytes(StandardCharsets.UTF_8));
		return request;
	}

	@ParameterizedTest
	@ValueSource(strings = { "a=1&x=%zz", "many" })
	void formUnderAQueryThatCannotBeReadCountsWithAllItsFields(String query) throws Exception {
		String text = query.equals("many") ? "a=1" + "&b=1".repeat(1000) : query;
		MockHttpServletResponse first = send((servletContext) -> asTomcatDoes(text, "a=2"));
		assertThat(first.getContentAsString()).isEqualTo("[1, 2]");
		assertReplayed(send((servletContext) -> asTomcatDoes(text, "a=2")));
		assertReused(send((servletContext) -> asTomcatDoes(text, "a=3")));
	}

	@Test
	void queryThatCannotBeReadCountsAsItIs() throws Exception {
		send((servletContext) -> asTomcatDoes("a=%zz", ""));
		assertReplayed(send((servletContext) -> asTomcatDoes("a=%zz", "")));
		assertReused(send((servletContext) -> asTomcatDoes("b=%zz", "")));
	}

	/** A decoder that replaces bytes makes them equal. */
	@ParameterizedTest
	@CsvSource({ "a=%e9, a=%e8", "a=%EF%BF%BD, a=%e8", "%e9=1, %e8=1", "a=%C3, a=%C2", "a=1&b=%ff, a=1&b=%fe" })
	void queryWhoseBytesAreNoTextCountsAsItIs(String query, String other) throws Exception {
		assertThat(send(form("/pay?" + query, "")).getStatus()).isEqualTo(200);
		assertReplayed(send(form("/pay?" + query, "")));
		assertReused(send(form("/pay?" + other, "")));
	}

	@ParameterizedTest
	@CsvSource({ "a=%e9, a=%e8", "a=%EF%BF%BD, a=%e8", "%e9=1, %e8=1", "a=\u00e9, a=\u00e8" })
	void formWhoseBytesAreNoTextCountsAsItIs(String form, String other) throws Exception {
		assertThat(send((servletContext) -> latin(form)).getStatus()).isEqualTo(200);
		assertReplayed(send((servletContext) -> latin(form)));
		assertReused(send((servletContext) -> latin(other)));
	}

	private static MockHttpServletRequest latin(String form) {
		MockHttpServletRequest request = unread("POST", "/fields", "");
		request.setContent(form.getBytes(StandardCharsets.ISO_8859_1));
		return request;
	}

	@ParameterizedTest
	@ValueSource(strings = { "/named/%e9", "/named/%EF%BF%BD" })
	void keyInThePathWhoseBytesAreNoTextIsInvalid(String path) throws Exception {
		assertInvalid(send(MockMvcRequestBuilders.post(URI.create(path))));
		assertThat(send(MockMvcRequestBuilders.post(URI.create("/named/%C3%A9"))).getStatus()).isEqualTo(200);
	}

	@Test
	void keyInAFormWhoseBytesAreNoTextIsInvalid() throws Exception {
		assertInvalid(send(formWithoutHeader("/keyed", "token=%e9")));
		assertThat(send(formWithoutHeader("/keyed", "token=%C3%A9&a=%e9")).getStatus()).isEqualTo(200);
	}

	@Test
	void keyOfABeanInAFormWhoseBytesAreNoTextIsInvalid() throws Exception {
		assertInvalid(send(formWithoutHeader("/keyed-bean", "token=M%FCller")));
		assertInvalid(send(formWithoutHeader("/keyed-bean", "token=%zz")));
		assertThat(send(formWithoutHeader("/keyed-bean", "token=M%C3%BCller")).getStatus()).isEqualTo(200);
	}

	@Test
	void keyInJsonWhoseBytesAreNoTextIsInvalid() throws Exception {
		assertInvalid(send(MockMvcRequestBuilders.post("/pointed")
			.header("Content-Type", "application/json;charset=US-ASCII")
			.content("{\"token\":\"\u00e9\"}".getBytes(StandardCharsets.ISO_8859_1))));
		// The client means the character that stands for such bytes.
		assertThat(send(MockMvcRequestBuilders.post("/pointed")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"token\":\"\\uFFFD\"}")).getStatus()).isEqualTo(200);
	}

	@Test
	void keyInUtf16JsonIsReadIfTheContentTypeNamesTheCharset() throws Exception {
		byte[] json = "{\"token\":\"t1\"}".getBytes(StandardCharsets.UTF_16BE);
		assertInvalid(
				send(MockMvcRequestBuilders.post("/pointed").contentType(MediaType.APPLICATION_JSON).content(json)));
		assertThat(send(MockMvcRequestBuilders.post("/pointed")
			.header("Content-Type", "application/json;charset=UTF-16BE")
			.content(json)).getStatus()).isEqualTo(200);
	}

	private static void assertInvalid(MockHttpServletResponse response) throws Exception {
		assertThat(response.getContentAsString()).contains("\"code\":\"key-invalid\"");
	}

	/** Of the form it knows nothing: that is still in the stream. */
	private static MockHttpServletRequest asTomcatDoes(String query, String form) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/fields");
		request.setQueryString(query);
		request.addParameter("a", "1");
		request.addHeader("Idempotency-Key", "k1");
		request.setContentType("application/x-www-form-urlencoded");
		request.setContent(form.getBytes(StandardCharsets.UTF_8));
		return request;
	}

	private static MockHttpServletRequestBuilder pay() {
		return MockMvcRequestBuilders.post("/pay").header("Idempotency-Key", "k1");
	}

	private static MockHttpServletRequestBuilder form(String path, String body) {
		return formWithoutHeader(path, body).header("Idempotency-Key", "k1");
	}

	private static MockHttpServletRequestBuilder formWithoutHeader(String path, String body) {
		return MockMvcRequestBuilders.post(URI.create(path))
			.contentType(MediaType.APPLICATION_FORM_URLENCODED)
			.content(body);
	}

	private static MockHttpServletRequestBuilder body(String json, String type) {
		return pay().header("Content-Type", type).content(json);
	}

	/** As Spring Security leaves a request that came with a session. */
	private static RequestBuilder csrf(AbstractMockHttpServletRequestBuilder<?> request, String parameter) {
		CsrfToken token = new DefaultCsrfToken("X-CSRF-TOKEN", parameter, "raw");
		return request.cookie(new Cookie("SESSION", "s")).requestAttr(CsrfToken.class.getName(), token);
	}

	private static void assertReplayed(MockHttpServletResponse response) throws Exception {
		assertThat(response.getHeader("Idempotent-Replayed")).as(response.getContentAsString()).isEqualTo("true");
	}

	private static void assertReused(MockHttpServletResponse response) throws Exception {
		assertThat(response.getContentAsString()).contains("\"code\":\"key-reused\"");
	}

	private MockHttpServletResponse send(RequestBuilder request) throws Exception {
		return this.client.perform(request).andReturn().getResponse();
	}

	static class TokenPayments {

		@Idempotent(body = "token")
		String pay() {
			return "paid";
		}

	}

	@RestController
	static class Payments {

		private final TokenPayments tokens;

		Payments(TokenPayments tokens) {
			this.tokens = tokens;
		}

		@Idempotent
		@PostMapping("/pay")
		String pay() {
			return "paid";
		}

		@Idempotent
		@RequestMapping(path = "/either", method = { RequestMethod.POST, RequestMethod.PUT })
		String either() {
			return "either";
		}

		@Idempotent
		@PutMapping("/changed")
		String changed() {
			return "changed";
		}

		@Idempotent
		@PostMapping("/part")
		String part(@RequestParam("status") int status, HttpServletResponse response) {
			response.setStatus(status);
			response.setHeader("Content-Range", "bytes 0-1/10");
			return "pa";
		}

		@Idempotent
		@PostMapping("/fields")
		String fields(HttpServletRequest request) {
			return Arrays.toString(request.getParameterValues("a"));
		}

		@Idempotent(body = "/token")
		@PostMapping("/pointed")
		String pointed() {
			return "paid";
		}

		@Idempotent(key = "#name")
		@PostMapping("/named/{name}")
		String named(@PathVariable("name") String name) {
			return "paid";
		}

		@PostMapping("/keyed-bean")
		String keyedBean() {
			return this.tokens.pay();
		}

		@Idempotent(body = "token")
		@PostMapping("/keyed")
		String keyed() {
			return "paid";
		}

	}

}
