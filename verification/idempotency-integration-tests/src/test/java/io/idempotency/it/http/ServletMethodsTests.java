package io.idempotency.it.http;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.junit.jupiter.api.Test;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The methods of the Servlet API that the wrappers and streams of the library do not
 * override. A newer Servlet API may add methods that bypass the library: each of them
 * must be overridden, or be added here because it can do no harm.
 */
class ServletMethodsTests {

	/** Methods that neither send nor change anything that is stored. */
	private static final Set<String> RESPONSE = Set.of("addCookie(Cookie)", "containsHeader(String)",
			"encodeRedirectURL(String)", "encodeURL(String)", "getBufferSize()", "getCharacterEncoding()",
			"getContentType()", "getHeader(String)", "getHeaderNames()", "getHeaders(String)", "getLocale()",
			"getResponse()", "getTrailerFields()", "isWrapperFor(Class)", "isWrapperFor(ServletResponse)",
			"setBufferSize(int)", "setResponse(ServletResponse)", "setTrailerFields(Supplier)");

	/** Methods that write through the overridden ones. */
	private static final Set<String> OUTPUT = Set.of("print(String)", "print(boolean)", "print(char)", "print(double)",
			"print(float)", "print(int)", "print(long)", "println()", "println(String)", "println(boolean)",
			"println(char)", "println(double)", "println(float)", "println(int)", "println(long)", "write(byte[])",
			"write(ByteBuffer)");

	/** Methods that read through the overridden ones. */
	private static final Set<String> INPUT = Set.of("mark(int)", "markSupported()", "read(byte[])", "read(ByteBuffer)",
			"readAllBytes()", "readLine(byte[],int,int)", "readNBytes(byte[],int,int)", "readNBytes(int)", "reset()",
			"skip(long)", "skipNBytes(long)", "transferTo(OutputStream)");

	/** Methods that read the body or its fields, or start asynchronous processing. */
	private static final Set<String> OF_REQUEST = Set.of("getInputStream()", "getParameter(String)",
			"getParameterMap()", "getParameterNames()", "getParameterValues(String)", "getReader()", "startAsync()",
			"startAsync(ServletRequest,ServletResponse)");

	/** All other methods of a request. */
	private static final Set<String> REQUEST = Set.of("authenticate(HttpServletResponse)", "changeSessionId()",
			"getAsyncContext()", "getAttribute(String)", "getAttributeNames()", "getAuthType()",
			"getCharacterEncoding()", "getContentLength()", "getContentLengthLong()", "getContentType()",
			"getContextPath()", "getCookies()", "getDateHeader(String)", "getDispatcherType()", "getHeader(String)",
			"getHeaderNames()", "getHeaders(String)", "getHttpServletMapping()", "getIntHeader(String)",
			"getLocalAddr()", "getLocalName()", "getLocalPort()", "getLocale()", "getLocales()", "getMethod()",
			"getPart(String)", "getParts()", "getPathInfo()", "getPathTranslated()", "getProtocol()",
			"getProtocolRequestId()", "getQueryString()", "getRemoteAddr()", "getRemoteHost()", "getRemotePort()",
			"getRemoteUser()", "getRequest()", "getRequestDispatcher(String)", "getRequestId()", "getRequestURI()",
			"getRequestURL()", "getRequestedSessionId()", "getScheme()", "getServerName()", "getServerPort()",
			"getServletConnection()", "getServletContext()", "getServletPath()", "getSession()", "getSession(boolean)",
			"getTrailerFields()", "getUserPrincipal()", "isAsyncStarted()", "isAsyncSupported()",
			"isRequestedSessionIdFromCookie()", "isRequestedSessionIdFromURL()", "isRequestedSessionIdValid()",
			"isSecure()", "isTrailerFieldsReady()", "isUserInRole(String)", "isWrapperFor(Class)",
			"isWrapperFor(ServletRequest)", "login(String,String)", "logout()", "newPushBuilder()",
			"removeAttribute(String)", "setAttribute(String,Object)", "setCharacterEncoding(Charset)",
			"setCharacterEncoding(String)", "setRequest(ServletRequest)", "upgrade(Class)");

	@Test
	void overridesEachMethodThatSendsOrChangesTheResponse() {
		assertThat(passing(HttpServletResponseWrapper.class, "BufferingResponse")).isSubsetOf(RESPONSE);
	}

	@Test
	void overridesEachMethodThatWritesToTheStream() {
		assertThat(passing(ServletOutputStream.class, "BufferedOutputStream")).isSubsetOf(OUTPUT);
	}

	@Test
	void overridesEachMethodThatReadsFromTheStream() {
		assertThat(passing(ServletInputStream.class, "RecordingInputStream")).isSubsetOf(INPUT);
	}

	@Test
	void overridesEachMethodThatReadsTheBodyOfTheRequest() {
		assertThat(passing(HttpServletRequestWrapper.class, "RecordingRequest")).isSubsetOf(REQUEST)
			.doesNotContainAnyElementsOf(OF_REQUEST);
	}

	/**
	 * Returns the methods of a class that its subclass in the library does not override.
	 */
	private static List<String> passing(Class<?> api, String name) {
		Class<?> overriding = ClassUtils.resolveClassName("io.idempotency.web." + name, null);
		assertThat(api).isAssignableFrom(overriding);
		return Arrays.stream(overriding.getMethods())
			.filter((method) -> method.getDeclaringClass() != Object.class)
			.filter((method) -> !method.getDeclaringClass().getName().startsWith("io.idempotency."))
			.filter((method) -> !Modifier.isStatic(method.getModifiers()))
			.map(ServletMethodsTests::signature)
			.sorted()
			.toList();
	}

	private static String signature(Method method) {
		return method.getName() + Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(",", "(", ")"));
	}

}
