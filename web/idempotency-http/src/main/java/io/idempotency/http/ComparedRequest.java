package io.idempotency.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * A request as its fingerprint sees it, whatever stack has taken it. For the thread that
 * works for the request.
 *
 * @hidden
 */
@Internal
public interface ComparedRequest {

	String method();

	String path();

	/**
	 * Tells what the client has asked for and which of several inner handlers answers,
	 * where the request itself shows another target.
	 * @param values gets as many values for each request of a stack
	 */
	void dispatches(Consumer<@Nullable String> values);

	/** Returns the values of a header, empty if the request has none. */
	List<String> headers(String name);

	@Nullable String query();

	@Nullable String contentType();

	/** Returns the encoding of the request, which may only be a default. */
	@Nullable String characterEncoding();

	/** Returns the declared length of the body, -1 if it is not known. */
	long contentLength();

	/**
	 * Returns the name of the parameter in which a page sends the token against forged
	 * requests, {@code null} if the request cannot have one.
	 */
	@Nullable String csrfParameter();

	/**
	 * Returns the parameters of the query and of the form, sorted by name. A value may be
	 * {@code null}.
	 */
	Map<String, List<String>> parameters();

	/**
	 * Returns the parts of a multipart form, sorted by name; parts of one name keep their
	 * order.
	 * @return the parts, empty if nobody has parsed the request
	 */
	List<RequestPart> parts() throws IOException;

	/**
	 * Returns the whole body.
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	ByteBuffer body();

	/**
	 * Reads a form, so that its fields are among the parameters.
	 * @return the form as it was sent, empty if the container has read it
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	ByteBuffer form();

	/** Returns whether the parameters surely tell all of the form that was read. */
	boolean isFormRead();

	/**
	 * Gives the form in which a JSON body in UTF-8 is compared.
	 * @param form gets the form, which is valid until it returns
	 * @return whether the body can be compared by value; if not, nobody gets a form
	 */
	boolean compareJson(Consumer<ByteBuffer> form);

	/**
	 * Refuses a body whose known size is over the limit.
	 * @param size how many bytes the body has at least
	 * @throws IdempotencyBodyTooLargeException if the size is over the limit
	 */
	void requireSize(long size);

}
