/**
 * The HTTP rules of both stacks: the outcome of a guarded request, the storage of its
 * response, and the rendering of rejections. The package does not depend on servlets.
 */
@NullMarked
package io.idempotency.http;

import org.jspecify.annotations.NullMarked;
